import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A provider with OpenAI's API. What the prompt says decides what it does. Its gpt-4o-mini always fails. */
export interface Upstream {
  url: string;
  /** Prompts that arrived. */
  prompts: string[];
  /** Ends the streams and failures that wait for it. */
  finishStreams(): void;
  stop(): Promise<void>;
}

export const PROMPTS = {
  /** Status 500. */
  fail: 'please fail',
  /** Status 500, when the test says so. */
  failLate: 'please fall over later',
  /** A stream that never says anything. */
  silent: 'please be silent',
  /** A stream that says something and goes on when the test says so. */
  wait: 'please wait',
  /** A stream whose connection ends in the middle. */
  breakOff: 'please break off',
};

/** What it says that a call took: 225 micros by the prices of gpt-4o. */
export const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };

export async function startUpstream(): Promise<Upstream> {
  const prompts: string[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      if (request.method !== 'POST') return void response.writeHead(404).end();
      prompts.push(text);
      const body = JSON.parse(text) as { model: string; stream?: boolean };
      if (text.includes(PROMPTS.fail) || body.model === 'gpt-4o-mini')
        return sendJson(response, 500, { error: { message: 'It failed.' } });
      if (text.includes(PROMPTS.failLate)) {
        return void waiting.push(() => sendJson(response, 500, { error: { message: 'It failed.' } }));
      }
      if (request.url?.endsWith('/embeddings')) return sendJson(response, 200, embedding(body.model));
      if (request.url?.endsWith('/images/generations')) return sendJson(response, 200, IMAGE);
      if (request.url?.endsWith('/responses')) return sendJson(response, 200, response_(body.model));
      if (body.stream !== true) return sendJson(response, 200, completion(body.model));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      if (text.includes(PROMPTS.silent)) return;
      sendChunk(response, body.model, { choices: [choice({ role: 'assistant', content: 'one two three' })] });
      if (text.includes(PROMPTS.breakOff)) return void setTimeout(() => response.destroy(), 200);
      const finish = () => {
        sendChunk(response, body.model, { choices: [choice({}, 'stop')] });
        sendChunk(response, body.model, { choices: [], usage: USAGE });
        response.end('data: [DONE]\n\n');
      };
      if (text.includes(PROMPTS.wait)) waiting.push(finish);
      else finish();
    });
  });
  // LiteLLM keeps connections, and fails a call on one that ends as it is used again.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    prompts,
    finishStreams: () => waiting.splice(0).forEach((finish) => finish()),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const choice = (delta: object, finish: string | null = null) => ({ index: 0, delta, finish_reason: finish });

function sendChunk(response: ServerResponse, model: string, content: object): void {
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, ...content };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function completion(model: string): object {
  const message = { role: 'assistant', content: 'one two three' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices, usage: USAGE };
}

function embedding(model: string): object {
  const data = [{ object: 'embedding', index: 0, embedding: [0.1] }];
  return { object: 'list', model, data, usage: { prompt_tokens: 1000, total_tokens: 1000 } };
}

const IMAGE = { created: 1, data: [{ b64_json: 'aW1hZ2U=' }] };

function response_(model: string): object {
  const content = [{ type: 'output_text', text: 'one two three', annotations: [] }];
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model },
    output: [{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content }],
    ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [] },
    usage: {
      ...{ input_tokens: 10, output_tokens: 20, total_tokens: 30 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}
