import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from './event.receiver.ts';

const HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens';
const KEY = 'ws_live_0123456789abcdef.secret';

interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

describe('npm run replay', () => {
  let directory: string;
  let receiver: EventReceiver | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-replay-'));
  });

  afterEach(async () => {
    await receiver?.drop();
    receiver = undefined;
    await rm(directory, { recursive: true });
  });

  async function trace(rows: string[], name = 'trace.csv'): Promise<string> {
    const path = join(directory, name);
    await writeFile(path, [HEADER, ...rows].join('\n'));
    return path;
  }

  function run(
    args: string[],
    env: NodeJS.ProcessEnv = { TOLLKEEPER_KEY: KEY },
    onStderr: (text: string) => void = () => undefined,
  ): Promise<Outcome> {
    const main = join(import.meta.dirname, '../src/main.ts');
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [main, ...args], { env, cwd: directory }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
      });
      child.stderr?.on('data', onStderr);
    });
  }

  it('posts every row as one settlement, priced by its tokens, with times that end now and keep their distances', async () => {
    receiver = await startEventReceiver();
    const file = await trace(['2023-11-16 18:17:03.9799600,4808,10', '2023-11-16 18:17:05.1000000,100,7']);
    const { status, stdout } = await run([file, '--url', receiver.url, '--agents', '2']);
    expect(status).toBe(0);
    const [first, second] = receiver.accepted();
    expect(first?.data).toMatchObject({ amount_micros: 4808 * 3 + 10 * 15, input_tokens: 4808, output_tokens: 10 });
    expect(second?.data).toMatchObject({ amount_micros: 100 * 1 + 7 * 5, input_tokens: 100, output_tokens: 7 });
    expect(first?.data.agent_id).not.toBe(second?.data.agent_id);
    expect(Date.parse(second?.time ?? '') - Date.parse(first?.time ?? '')).toBe(1_121);
    expect(Math.abs(Date.now() - Date.parse(second?.time ?? ''))).toBeLessThan(60_000);
    expect(stdout).toMatch(/posted {3}2 .*\nskipped {2}0\nleft {5}0\nsum {6}14709 USD micros/);
  });

  it('authenticates with the key of the environment and posts batches of at most 1000 events', async () => {
    receiver = await startEventReceiver();
    const file = await trace(manyRows(2_500));
    expect((await run([file, '--url', receiver.url])).status).toBe(0);
    expect(receiver.requests.map(({ events }) => events.length)).toEqual([1_000, 1_000, 500]);
    expect(receiver.requests[0]).toMatchObject({
      path: '/api/v1/events',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/cloudevents-batch+json' },
    });
  });

  it('gives the same events the same ids every time, whatever the options, and other files other ids', async () => {
    receiver = await startEventReceiver();
    const rows = manyRows(30);
    const ids = async (file: string, ...options: string[]): Promise<string[]> => {
      const before = receiver?.accepted().length;
      await run([file, '--url', receiver?.url ?? '', ...options]);
      return (
        receiver
          ?.accepted()
          .slice(before)
          .map(({ id, data }) => `${id} ${data.settlement_id}`) ?? []
      );
    };
    const first = await ids(await trace(rows));
    expect(new Set(first).size).toBe(30);
    expect(await ids(await trace(rows, 'copy.csv'), '--agents', '7', '--speed', '1000')).toEqual(first);
    const other = await ids(await trace(rows.slice(1), 'other.csv'));
    expect(other.filter((id) => first.includes(id))).toEqual([]);
  });

  it('names bad rows by their line and reason, skips and counts them, and posts all others', async () => {
    receiver = await startEventReceiver();
    const file = await trace([
      '2023-11-16 18:17:03.9799600,1,1',
      'yesterday,1,1',
      '2023-02-30 18:17:03,1,1',
      '',
      '2023-11-16 18:17:04,-5,1',
      '2023-11-16 18:17:04,1',
      '2023-11-16 18:17:04,1,"2',
      '2023-11-16 18:17:05,2,2',
    ]);
    const { status, stdout, stderr } = await run([file, '--url', receiver.url]);
    expect(status).toBe(2);
    expect(receiver.accepted().map(({ data }) => data.input_tokens)).toEqual([1, 2]);
    expect(stdout).toMatch(/rows {5}7\nposted {3}2 .*\nskipped {2}5\n/);
    for (const line of [
      'line 3 skipped: TIMESTAMP',
      'line 4 skipped: TIMESTAMP',
      'line 6 skipped: ContextTokens',
      'line 7 skipped: has 2 columns',
      'line 8 skipped: GeneratedTokens',
    ]) {
      expect(stderr).toContain(line);
    }
  });

  it('names and skips the rows that Tollkeeper refuses and posts the others of their batch', async () => {
    const details = [{ path: '[1].time', message: 'must not be ahead' }];
    receiver = await startEventReceiver((request) =>
      request === 1 ? { status: 400, body: { error: 'invalid', details } } : undefined,
    );
    const { status, stderr } = await run([await trace(manyRows(3)), '--url', receiver.url]);
    expect(status).toBe(2);
    expect(stderr).toContain('line 3 skipped: refused: time must not be ahead');
    expect(receiver.accepted().map(({ id }) => id.split(':')[1])).toEqual(['2', '4']);
  });

  it('waits as long as a 429 or 503 asks and posts everything in the end', async () => {
    receiver = await startEventReceiver((request) =>
      request <= 2 ? { status: request === 1 ? 429 : 503, headers: { 'retry-after': '1' } } : undefined,
    );
    const { status, stderr } = await run([await trace(manyRows(5)), '--url', receiver.url]);
    expect(status).toBe(0);
    expect(stderr).toContain('answers 429; trying again in 1.0 s');
    expect(stderr).toContain('answers 503; trying again in 1.0 s');
    expect(receiver.accepted()).toHaveLength(5);
  });

  it('continues when the connection is refused and comes back', async () => {
    receiver = await startEventReceiver();
    const { url } = receiver;
    await receiver.drop();
    const refused = Promise.withResolvers<void>();
    const running = run([await trace(manyRows(5)), '--url', url], undefined, (text) => {
      if (text.includes('ECONNREFUSED')) refused.resolve();
    });
    await refused.promise;
    await receiver.listen();
    expect((await running).status).toBe(0);
    expect(receiver.accepted()).toHaveLength(5);
  });

  it('stops with the way out when the key is not accepted or may not post', async () => {
    for (const [status, wayOut] of [
      [401, 'Check the key'],
      [403, 'role developer or admin'],
    ] as const) {
      receiver = await startEventReceiver(() => ({ status, body: { error: 'no' } }));
      const outcome = await run([await trace(manyRows(5)), '--url', receiver.url]);
      expect(outcome.status).toBe(1);
      expect(outcome.stderr).toContain(wayOut);
      expect(outcome.stderr).not.toContain(KEY);
      expect(outcome.stdout).toMatch(/left {5}5/);
      await receiver.drop();
    }
  });

  it('posts no faster than asked with --speed, each call at the time of its posting', async () => {
    receiver = await startEventReceiver();
    const file = await trace(['2023-11-16 18:00:00,1,1', '2023-11-16 18:00:10,1,1', '2023-11-16 18:00:20,1,1']);
    expect((await run([file, '--url', receiver.url, '--speed', '20'])).status).toBe(0);
    expect(receiver.requests).toHaveLength(3);
    const times = receiver.accepted().map(({ time }) => Date.parse(time));
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 500, 1_000]);
  });

  it('says what is wrong with the file or the command line', async () => {
    await writeFile(join(directory, 'notes.csv'), 'one,two\n1,2\n');
    for (const [args, problem] of [
      [['missing.csv'], 'There is no file'],
      [['notes.csv'], 'the first line must be TIMESTAMP,ContextTokens,GeneratedTokens'],
      [[], 'Name the trace'],
      [['a.csv', '--speed', '0'], '--speed must be a number above 0'],
      [['a.csv', '--agents', 'many'], '--agents must be a number'],
      [['a.csv', '--url', 'localhost:8080'], '--url must be'],
      [['a.csv', '--sped', '1'], '--sped'],
    ] as const) {
      const { status, stderr } = await run([...args]);
      expect(status).toBe(1);
      expect(stderr).toContain(problem);
    }
    const { status, stderr } = await run(['a.csv'], {});
    expect(status).toBe(1);
    expect(stderr).toContain('TOLLKEEPER_KEY');
  });
});

function manyRows(count: number): string[] {
  const start = Date.UTC(2023, 10, 16, 18);
  return Array.from({ length: count }, (_, n) => {
    const time = new Date(start + n * 400).toISOString().replace('T', ' ').replace('Z', '0000');
    return `${time},${1_000 + n},${n % 50}`;
  });
}
