import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { pythonWith } from '@tollkeeper/testing/python-packages';
import { environmentOf, runScript } from './example.shell.ts';
import { startGrpcProxy } from './grpc.proxy.ts';
import { type MarkedWords, markedWords } from './marked.words.ts';
import { type ModelFront, startModelFront } from './model.front.ts';
import { type ReportingProxy, startReportingProxy } from './reporting.proxy.ts';
import type { SearchedStage } from './searched.stage.ts';
import { newWorkspace, type TestWorkspace } from './workspace.ts';

/** The programs of senders, and the packages that those in Python need. */
const PROGRAMS = join(import.meta.dirname, '../test/senders');

/** As often as the page Connect asks what was understood of reports, which Tollkeeper knows only meanwhile. */
const WATCH_MS = 2_000;

/** How a sender reports, and what it is called: in its own words, and as an agent. */
export interface Sender {
  name: string;
  /** Its program in `test/senders`, with its arguments. */
  command: string;
  /** Its settings, beside the address and the key. */
  env?: (to: { url: string; key: string }) => NodeJS.ProcessEnv;
  protocol?: 'http/protobuf' | 'grpc';
}

/** A sender that has reported its calls. */
export interface Reported {
  workspace: TestWorkspace;
  agent: string;
  words: MarkedWords;
}

interface Senders {
  model(): ModelFront;
  http(): ReportingProxy;
  grpc(): ReportingProxy;
  /** Runs the program of the sender, in a workspace of its own. `planted` is a part of the name of its agent. */
  run(sender: Sender, planted: string): Promise<Reported>;
  /** The slugs of the workspaces, and the agents, of all senders so far. */
  readonly workspaces: readonly string[];
  readonly agents: readonly string[];
}

export function useSenders(stage: SearchedStage): Senders {
  let python: string;
  let model: ModelFront;
  let http: ReportingProxy;
  let grpc: ReportingProxy;
  let directory: string;
  const workspaces: string[] = [];
  const agents: string[] = [];

  beforeAll(async () => {
    python = await pythonWith({
      name: 'senders',
      requirements: join(PROGRAMS, 'requirements.txt'),
      constraints: join(PROGRAMS, 'constraints.txt'),
    });
    model = await startModelFront();
    http = await startReportingProxy(() => stage.target().baseUrl);
    grpc = await startGrpcProxy(stage.grpcUrl);
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-senders-'));
  });
  afterAll(async () => {
    await Promise.all([model?.stop(), http?.stop(), grpc?.stop()]);
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  });

  return {
    ...{ model: () => model, http: () => http, grpc: () => grpc, workspaces, agents },
    async run({ name, command, env, protocol = 'http/protobuf' }, planted) {
      const workspace = await newWorkspace(stage.owner());
      workspaces.push(workspace.slug);
      // From now on, so that the first report is among them.
      await stage.watch(workspace.slug);
      const watch = setInterval(() => void stage.watch(workspace.slug).catch(() => undefined), WATCH_MS);
      const words = markedWords(name);
      const agent = `${planted}-${name}`;
      agents.push(agent);
      const to = { url: protocol === 'grpc' ? grpc.url : http.url, key: workspace.apiKey };
      const program = runScript(`cd ${PROGRAMS}; ${command}`, directory, {
        ...environmentOf({ ...stage.target(), apiKey: to.key, baseUrl: to.url }),
        ...{ PYTHON: python, PYTHONDONTWRITEBYTECODE: '1', NODE: process.execPath },
        ...{ MODEL_URL: model.urlFor(words.answer), PROMPT: `Why is the sky ${words.prompt}?`, ANSWER: words.answer },
        OTEL_SERVICE_NAME: agent,
        OTEL_EXPORTER_OTLP_ENDPOINT: to.url,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${to.key}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        // One batch, when the program ends; the exporters have time for all attempts.
        ...{
          OTEL_BSP_SCHEDULE_DELAY: '900000',
          OTEL_BSP_EXPORT_TIMEOUT: '120000',
          OTEL_EXPORTER_OTLP_TIMEOUT: '120000',
        },
        ...env?.(to),
      });
      const shell = await program.finally(() => clearInterval(watch));
      await shell.end();
      return { workspace, agent, words };
    },
  };
}
