import { expect } from '@jest/globals';
import type { ApiClient } from '../api.client.ts';
import type { PostAnswer } from '../resend.ts';
import type { Target } from '../target.ts';
import { postTelemetry } from '../telemetry.ts';
import { newWorkspace } from '../workspace.ts';
import { createExpectedFigures, type ExpectedFigures, type Figures } from './figures.ts';
import { generateCall, HOUSE_MODEL, HOUSE_PRICE } from './generated.call.ts';
import type { Sender } from './sender.ts';

const DAYS = 2;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A workspace to which one sender reports calls, which are numbered from 0. */
export interface SenderWorkspace {
  /** Posts the record of these calls in one body. */
  post(calls: readonly number[]): Promise<PostAnswer>;
  /** Number of calls that the dashboard counts. */
  counted(): Promise<number>;
  /** Checks that exactly these calls are counted, each once, and what they cost. Throws if not (yet). */
  expectExactly(figures: ExpectedFigures): Promise<void>;
  /** What follows from these calls, each of which is named once. */
  figuresOf(calls: Iterable<number>): ExpectedFigures;
}

interface Spend {
  metrics: Figures & ExpectedFigures['cached'];
  unpriced: { calls: number };
  unmetered: { calls: number };
}

interface Groups {
  groups: (Figures & { key: string })[];
}

/** The calls are of the last two days, and the same for the same name. */
export async function newSenderWorkspace(
  options: { target: Target; owner: ApiClient; sender: Sender },
  name: string,
): Promise<SenderWorkspace> {
  const { target, owner, sender } = options;
  const now = Date.now();
  const between = { fromMs: now - (now % DAY_MS) - DAYS * DAY_MS, toMs: now - (now % HOUR_MS) - HOUR_MS };
  const workspace = await newWorkspace(owner);
  const body = {
    model: HOUSE_MODEL,
    valid_from: '2026-01-01T00:00:00.000Z',
    input_micros_per_million: HOUSE_PRICE.input,
    cached_input_micros_per_million: HOUSE_PRICE.cacheRead,
    output_micros_per_million: HOUSE_PRICE.output,
  };
  await owner.expect({ method: 'PUT', path: workspace.path('/prices'), body });
  const callOf = (index: number) => generateCall(`${name}-${index}`, sender.shapeOf(index), between);
  const read = <T>(path: string): Promise<T> => {
    const from = new Date(between.fromMs).toISOString();
    return owner.expect<T>({ path: workspace.path(`/dashboard/${path}from=${from}`) });
  };
  return {
    post(calls) {
      const batch = calls.map((index) => ({ index, call: callOf(index) }));
      return postTelemetry(target, sender.body(workspace.apiKey, batch));
    },
    figuresOf(calls) {
      const figures = createExpectedFigures();
      for (const index of calls) {
        const call = callOf(index);
        figures.add(call, sender.modelOf(index, call));
      }
      return figures;
    },
    counted: async () => (await read<Spend>('spend?')).metrics.unique_settlements,
    async expectExactly(figures) {
      expect(await read<Spend>('spend?')).toMatchObject({
        metrics: { ...figures.total, ...figures.cached },
        unpriced: { calls: figures.unpriced },
        unmetered: { calls: 0 },
      });
      const byAgent = await read<Groups>('spend/breakdown?by=agent&limit=20&');
      expect(figuresBy(byAgent.groups, ({ key }) => key)).toEqual(figures.byAgent);
      const byModel = await read<Groups>('spend/breakdown?by=model&limit=20&');
      expect(figuresBy(byModel.groups, ({ key }) => key)).toEqual(figures.byModel);
      const { points } = await read<{ points: (Figures & { start: string })[] }>('spend/series?');
      expect(figuresBy(points, ({ start }) => start)).toEqual(figures.byHour);
    },
  };
}

function figuresBy<T extends Figures>(items: readonly T[], keyOf: (item: T) => string): Record<string, Figures> {
  const counted = items.filter(({ unique_settlements }) => unique_settlements > 0);
  return Object.fromEntries(
    counted.map((item) => {
      const { unique_settlements, total_micros, input_tokens, output_tokens } = item;
      return [keyOf(item), { unique_settlements, total_micros, input_tokens, output_tokens }];
    }),
  );
}
