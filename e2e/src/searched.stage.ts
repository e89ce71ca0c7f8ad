import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import {
  newDataDirectory,
  removeDataDirectory,
  type StandaloneProcess,
  startStandalone,
} from '@tollkeeper/testing/standalone-process';
import { type ApiClient, logIn } from './api.client.ts';
import { readEverything } from './api.reads.ts';
import { storedDocuments, storedFiles } from './stored.bytes.ts';
import type { Target } from './target.ts';

/** A word that was found: where, with the letters, digits and dashes that follow it there. */
interface Finding {
  place: string;
  text: string;
}

/** A standalone, all that it writes and answers, and a search through it. */
export interface SearchedStage {
  target(): Target;
  /** A client of the owner. */
  owner(): ApiClient;
  /** The address for OTLP by gRPC. */
  grpcUrl(): string;
  /** `host:port` for gateways that reserve over gRPC. */
  enforcerAddress(): string;
  /** Adds an answer to what is searched. */
  add(place: string, text: string): void;
  /** Reads `/intake-reports` of the workspace, which has what was understood of the newest reports, and adds it. */
  watch(slug: string): Promise<string>;
  /**
   * Where the word is in anything that was written or answered: documents of `mongod`, also packed ones, files, log
   * lines, metrics, exported traces, answers that were added, and those to all reads of these workspaces.
   */
  find(word: string, workspaces: readonly string[]): Promise<Finding[]>;
}

export function useSearchedStandalone(): SearchedStage {
  let dataDirectory: string;
  let standalone: StandaloneProcess;
  let traces: TraceRecorder;
  let owner: ApiClient;
  let ports: { ops: number; otlp: number; enforcer: number };
  const added: Finding[] = [];

  beforeAll(async () => {
    [dataDirectory, traces] = await Promise.all([newDataDirectory(), recordTraces()]);
    ports = { ops: await freePort(), otlp: await freePort(), enforcer: await freePort() };
    standalone = await startStandalone({
      dataDirectory,
      env: {
        LOG_LEVEL: 'trace',
        OPS_PORT: String(ports.ops),
        OTLP_PORT: String(ports.otlp),
        ENFORCER_GRPC_PORT: String(ports.enforcer),
        OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    });
    owner = await logIn(standalone, standalone.owner);
  });
  afterAll(async () => {
    await standalone?.end('SIGTERM');
    await traces?.stop();
    await removeDataDirectory(dataDirectory);
  });

  async function* everything(workspaces: readonly string[]): AsyncGenerator<{ place: string; bytes: Buffer }> {
    for (const slug of workspaces) {
      for await (const { path, status, headers, text } of readEverything(standalone, owner, slug)) {
        yield { place: `answer to GET ${path}`, bytes: Buffer.from(`${status} ${JSON.stringify(headers)} ${text}`) };
      }
    }
    for (const { place, text } of added) yield { place, bytes: Buffer.from(text) };
    const metrics = await fetch(`http://127.0.0.1:${ports.ops}/metrics`);
    yield { place: 'metrics', bytes: Buffer.from(await metrics.text()) };
    yield { place: 'traces', bytes: Buffer.concat(traces.bodies) };
    yield { place: 'log', bytes: Buffer.from(standalone.logs()) };
    yield { place: 'terminal', bytes: Buffer.from(standalone.terminal()) };
    yield* storedDocuments(dataDirectory, standalone.mongodPid);
    yield* storedFiles(dataDirectory);
  }

  return {
    target: () => standalone,
    owner: () => owner,
    grpcUrl: () => `http://127.0.0.1:${ports.otlp}`,
    enforcerAddress: () => `127.0.0.1:${ports.enforcer}`,
    add: (place, text) => void added.push({ place, text }),
    async watch(slug) {
      const path = `/w/${slug}/api/v1/intake-reports`;
      const { text } = await owner.call({ path });
      added.push({ place: `answer to GET ${path}`, text });
      return text;
    },
    async find(word, workspaces) {
      const found = new Map<string, Finding>();
      for await (const { place, bytes } of everything(workspaces)) {
        for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) {
          const text = /^[\w-]*/.exec(bytes.toString('latin1', at, at + 100))?.[0] ?? '';
          found.set(`${place} ${text}`, { place, text });
        }
      }
      return [...found.values()];
    },
  };
}

interface TraceRecorder {
  url: string;
  /** What was exported, as it was sent. */
  bodies: Buffer[];
  stop(): Promise<void>;
}

/** Takes the traces of Tollkeeper, with the names, the events and the errors of its spans. */
async function recordTraces(): Promise<TraceRecorder> {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
