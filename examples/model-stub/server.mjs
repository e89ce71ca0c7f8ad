// A model that costs nothing: the parts of the APIs of OpenAI and Anthropic that the examples call, with and without
// streaming. Every answer is the same sentence, and says that it took the same number of tokens.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

const PORT = Number(process.env.MODEL_STUB_PORT ?? 14010);
const SENTENCE = 'Air scatters blue light more than red light.';

const TOKENS = { input: 1200, cached: 1024, output: 345, reasoning: 128 };
const OPENAI_USAGE = {
  prompt_tokens: TOKENS.input,
  prompt_tokens_details: { cached_tokens: TOKENS.cached },
  completion_tokens: TOKENS.output,
  completion_tokens_details: { reasoning_tokens: TOKENS.reasoning },
  total_tokens: TOKENS.input + TOKENS.output,
};
const RESPONSES_USAGE = {
  input_tokens: TOKENS.input,
  input_tokens_details: { cached_tokens: TOKENS.cached },
  output_tokens: TOKENS.output,
  output_tokens_details: { reasoning_tokens: TOKENS.reasoning },
  total_tokens: TOKENS.input + TOKENS.output,
};
/** Anthropic does not include cached tokens in `input_tokens`. */
const ANTHROPIC_USAGE = {
  input_tokens: TOKENS.input - TOKENS.cached,
  cache_read_input_tokens: TOKENS.cached,
  cache_creation_input_tokens: 0,
  output_tokens: TOKENS.output,
  service_tier: 'standard',
};

/** As long as the ids of providers, so that each call counts once, also after a restart. */
const newId = (prefix) => prefix + randomBytes(20).toString('hex');
const nowSeconds = () => Math.floor(Date.now() / 1000);

/** OpenAI's chat completions. */
function chat({ model, stream_options }) {
  const base = { id: newId('chatcmpl-'), created: nowSeconds(), model };
  const message = { role: 'assistant', content: SENTENCE, refusal: null };
  const chunk = (choices, usage = null) => ({ data: { ...base, object: 'chat.completion.chunk', choices, usage } });
  return {
    whole: {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage: OPENAI_USAGE,
    },
    stream: [
      chunk([{ index: 0, delta: { role: 'assistant', content: SENTENCE }, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
      ...(stream_options?.include_usage ? [chunk([], OPENAI_USAGE)] : []),
      { data: '[DONE]' },
    ],
  };
}

/** OpenAI's responses. */
function responses({ model }) {
  const part = { type: 'output_text', text: SENTENCE, annotations: [], logprobs: [] };
  const item = { id: newId('msg_'), type: 'message', status: 'completed', role: 'assistant', content: [part] };
  const whole = {
    id: newId('resp_'),
    object: 'response',
    created_at: nowSeconds(),
    status: 'completed',
    model,
    output: [item],
    usage: RESPONSES_USAGE,
    ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, service_tier: 'default' },
    ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [], temperature: 1, top_p: 1 },
  };
  const text = { item_id: item.id, output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...text, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...text, delta: SENTENCE, logprobs: [] },
    { type: 'response.output_text.done', ...text, text: SENTENCE, logprobs: [] },
    { type: 'response.content_part.done', ...text, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ];
  return {
    whole,
    stream: events.map((data, index) => ({ event: data.type, data: { ...data, sequence_number: index } })),
  };
}

/** Anthropic's messages. */
function messages({ model }) {
  const whole = {
    id: newId('msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: SENTENCE }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: ANTHROPIC_USAGE,
  };
  const started = { ...whole, content: [], stop_reason: null, usage: { ...ANTHROPIC_USAGE, output_tokens: 1 } };
  const events = [
    { type: 'message_start', message: started },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: SENTENCE } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: ANTHROPIC_USAGE },
    { type: 'message_stop' },
  ];
  return { whole, stream: events.map((data) => ({ event: data.type, data })) };
}

const APIS = {
  '/v1/chat/completions': chat,
  '/v1/responses': responses,
  '/v1/messages': messages,
  '/v1/messages/count_tokens': () => ({ whole: { input_tokens: TOKENS.input } }),
};

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
}

function sendStream(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { event, data } of events) {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

function sendJson(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const api = request.method === 'POST' ? APIS[pathname] : undefined;
  if (api === undefined) {
    const message = `The model stub has no ${request.method} ${pathname}, only POST ${Object.keys(APIS).join(', ')}.`;
    sendJson(response, 404, { error: { message, type: 'not_found_error' } });
    return;
  }
  try {
    const body = await readJson(request);
    const { whole, stream } = api(body);
    if (body.stream && stream) sendStream(response, stream);
    else sendJson(response, 200, whole);
  } catch (error) {
    sendJson(response, 400, { error: { message: String(error), type: 'invalid_request_error' } });
  }
});
server.listen(PORT, '127.0.0.1', () => console.log(`The model stub is at http://127.0.0.1:${PORT}.`));
