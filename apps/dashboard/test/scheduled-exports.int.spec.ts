import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Role, TenantId } from '@tollkeeper/kernel';
import { freePort } from '@tollkeeper/managed-process';
import { CALLER_TOKEN_SECRET, eventually, useMongo } from '@tollkeeper/testing';
import { trustedAuthority } from '@tollkeeper/testing/authority';
import { newTenant, PARIS_TENANT, settled, useDashboard } from './dashboard.stack.ts';
import { pass, refuse, type S3StandIn, startS3 } from './s3.stand-in.ts';

const PATH = '/api/v1/scheduled-exports';
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** After the lease of a process that has ended, and after every wait for another attempt. */
const LATER_MS = 2 * HOUR_MS;

interface Schedule {
  kind: string;
  next_period: string;
  next_at: string;
  failing_since: string | null;
  problem: string | null;
  results: { period: string; state: string; at: string; object_key: string; bytes: number | null; problem: string }[];
}

const mongo = useMongo();
const dashboard = useDashboard(mongo);
const { clock } = dashboard;
const replica = useDashboard(mongo, dashboard);
let s3: S3StandIn;

beforeAll(async () => {
  s3 = await startS3();
});
beforeEach(() => {
  s3.behavior.intervene = pass;
  s3.calls.length = 0;
});
afterAll(() => s3.stop());

const as = (tenantId: TenantId, role: Role = 'owner') => ({
  get: () => dashboard.sendAs({ tenantId, role }, 'get', PATH),
  put: (body: object) => dashboard.sendAs({ tenantId, role }, 'put', PATH, body),
  remove: () => dashboard.sendAs({ tenantId, role }, 'delete', PATH),
  post: (verb: string, body?: object) => dashboard.sendAs({ tenantId, role }, 'post', `${PATH}/${verb}`, body),
});

const settings = (more: object = {}) => ({
  ...{ endpoint: s3.endpoint, region: 'us-east-1', bucket: 'finance', prefix: 'spend/' },
  ...{ access_key_id: 'AKIAEXAMPLE', secret_access_key: SECRET, format: 'csv', time_of_day: '08:00' },
  schedules: ['daily'],
  ...more,
});

async function scheduleOf(tenantId: TenantId, kind = 'daily'): Promise<Schedule> {
  const { schedules } = (await as(tenantId).get()).body as { schedules: Schedule[] };
  return schedules.find((schedule) => schedule.kind === kind)!;
}

/** Saves the settings, and waits until all files wait for their time. */
async function setUp(tenantId: TenantId, more: object = {}): Promise<void> {
  await as(tenantId).put(settings(more));
  await eventually(async () => {
    const { schedules } = (await as(tenantId).get()).body as { schedules: Schedule[] };
    // A claim lasts 90 s.
    expect(schedules.filter(({ next_at: next }) => Date.parse(next) <= clock.now + 90_000)).toEqual([]);
  });
}

/** Waits until the files of these periods have ended, newest first. */
const ended = (tenantId: TenantId, periods: string[], kind = 'daily') =>
  eventually(async () => {
    const schedule = await scheduleOf(tenantId, kind);
    expect(schedule.results.map(({ period }) => period)).toEqual(periods);
    return schedule;
  });

const failing = (tenantId: TenantId) =>
  eventually(async () => {
    const schedule = await scheduleOf(tenantId);
    expect(schedule.problem).not.toBeNull();
    return schedule;
  });

async function exported(tenantId: TenantId, query: string): Promise<string> {
  return (await dashboard.download(tenantId, `/export?${query}`)).text();
}

const spendIn = async (tenantId: TenantId, query: string) =>
  ((await dashboard.get(tenantId, `/spend?${query}`)).body as { metrics: { total_micros: number } }).metrics
    .total_micros;

/** The sum of a CSV file in micros. */
function sumOf(csv: string): number {
  const [head = '', ...lines] = csv.split('\r\n').slice(0, -1);
  const column = head.split(',').indexOf('total_micros');
  return lines.reduce((sum, line) => sum + Number(line.split(',')[column]), 0);
}

const at = (time: string) => (clock.now = Date.parse(time));
const startsOf = (kind: string) => s3.calls.filter((call) => call.startsWith('PUT') && call.includes(`/${kind}/`));

describe('a scheduled export', () => {
  it('is the export of the local day before, at the local time of day, once, with two replicas', async () => {
    at('2026-11-20T12:00:00Z');
    const tenantId = PARIS_TENANT;
    await dashboard.report(tenantId, [
      settled('2026-11-19T22:59:59.000Z', 1),
      settled('2026-11-19T23:00:00.000Z', 20),
      settled('2026-11-20T22:59:59.000Z', 300, { agent_id: 'coder' }),
      settled('2026-11-20T23:00:00.000Z', 4_000),
    ]);
    const { body } = await as(tenantId).put(settings({ group_by: 'agent' }));
    expect((body as { schedules: Schedule[] }).schedules).toMatchObject([{ kind: 'daily', next_period: '2026-11-20' }]);
    await eventually(async () => expect((await scheduleOf(tenantId)).next_at).toBe('2026-11-21T07:00:00.000Z'));

    at('2026-11-21T07:00:03Z');
    const { results, ...next } = await ended(tenantId, ['2026-11-20']);
    const key = `spend/${tenantId}/daily/2026-11-20.csv`;
    const file = s3.objects.get(`finance/${key}`)!;
    expect(sumOf(file)).toBe(320);
    const span = 'from=2026-11-19T23:00:00Z&to=2026-11-20T23:00:00Z';
    expect(file).toBe(await exported(tenantId, `${span}&group_by=agent`));
    expect(results).toEqual([
      {
        ...{ period: '2026-11-20', state: 'delivered', at: '2026-11-21T07:00:03.000Z', problem: null },
        ...{ object_key: key, bytes: Buffer.byteLength(file) },
      },
    ]);
    expect(next).toMatchObject({ next_period: '2026-11-21', next_at: '2026-11-22T07:00:00.000Z', problem: null });

    // A second file of the same workspace shows that both replicas have looked meanwhile.
    at('2026-11-22T07:00:00Z');
    await ended(tenantId, ['2026-11-21', '2026-11-20']);
    expect(startsOf('daily')).toEqual(
      ['20', '21'].map((day) => `PUT finance/spend/${tenantId}/daily/2026-11-${day}.csv`),
    );
    await as(tenantId).remove();
  });

  it('of a month is sent once and whole though all was down when it was due', async () => {
    at('2026-11-30T23:00:00Z');
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled('2026-11-01T00:00:00.000Z', 5),
      settled('2026-11-30T22:00:00.000Z', 70),
      settled('2026-12-01T00:00:00.000Z', 900),
    ]);
    await setUp(tenantId, { format: 'focus', schedules: ['daily', 'monthly'] });
    at('2026-12-01T07:50:00Z');
    await Promise.all([dashboard.stop(), replica.stop()]);
    at('2026-12-01T08:20:00Z');
    await Promise.all([dashboard.start(), replica.start()]);

    await ended(tenantId, ['2026-11-01'], 'monthly');
    await ended(tenantId, ['2026-11-30']);
    const file = s3.objects.get(`finance/spend/${tenantId}/monthly/2026-11.focus.csv`)!;
    const [head = '', ...lines] = file.split('\r\n').slice(0, -1);
    const column = head.split(',').indexOf('BilledCost');
    const micros = lines.reduce((sum, line) => sum + Math.round(Number(line.split(',')[column]) * 1e6), 0);
    expect(micros).toBe(await spendIn(tenantId, 'from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z'));
    expect(micros).toBe(75);
    expect([startsOf('daily').length, startsOf('monthly').length]).toEqual([1, 1]);
    await as(tenantId).remove();
  });

  it.each([
    ['the server is down', () => ({ endpoint: '' }), 'refused the connection'],
    ['the bucket is missing', () => (s3.behavior.intervene = refuse(404, 'NoSuchBucket')), 'Create the bucket'],
    ['the secret is wrong', () => (s3.behavior.intervene = refuse(403, 'SignatureDoesNotMatch')), 'secret_access_key'],
    ['the server is in trouble', () => (s3.behavior.intervene = refuse(503, 'SlowDown')), '503 (SlowDown)'],
  ])('is sent later if %s at its time, and says what to do', async (_fault, breakIt, problem) => {
    at('2026-11-20T12:00:00Z');
    const tenantId = newTenant();
    const isDown = 'endpoint' in breakIt();
    const endpoint = isDown ? `https://127.0.0.1:${await freePort()}` : s3.endpoint;
    await setUp(tenantId, { endpoint });
    at('2026-11-21T08:00:00Z');
    const failed = await failing(tenantId);
    expect(failed.problem).toContain(problem);
    expect(failed).toMatchObject({ failing_since: '2026-11-21T08:00:00.000Z', next_period: '2026-11-20', results: [] });

    s3.behavior.intervene = pass;
    if (isDown) await as(tenantId).put(settings());
    clock.now += LATER_MS;
    expect(await ended(tenantId, ['2026-11-20'])).toMatchObject({ problem: null, failing_since: null });
    await as(tenantId).remove();
  });

  it('is given up after seven days of failures, and those behind it are sent', async () => {
    at('2026-11-20T12:00:00Z');
    const tenantId = newTenant();
    await setUp(tenantId);
    const broken = `finance/spend/${tenantId}/daily/2026-11-20.csv`;
    s3.behavior.intervene = (call, response) => call.key !== broken || refuse(403, 'AccessDenied')(call, response);
    at('2026-11-21T08:00:00Z');
    await failing(tenantId);
    clock.now += 7 * DAY_MS;
    const { results } = await ended(
      tenantId,
      [...'76543210'].map((day) => `2026-11-2${day}`),
    );
    expect(results.map(({ state }) => state)).toEqual([...Array<string>(7).fill('delivered'), 'given_up']);
    expect(results.at(-1)!.problem).toContain('s3:PutObject');
    await as(tenantId).remove();
  });

  it('is sent for 31 days back at most after longer downtime', async () => {
    at('2026-08-01T12:00:00Z');
    const tenantId = newTenant();
    await setUp(tenantId);
    at('2026-11-20T12:00:00Z');
    await eventually(async () => expect((await scheduleOf(tenantId)).next_period).toBe('2026-11-20'));
    expect(startsOf('daily')).toHaveLength(31);
    expect(startsOf('daily')[0]).toContain('2026-10-20.csv');
    await as(tenantId).remove();
  });

  it('goes on where another process takes over when one is killed in the middle of an upload', async () => {
    at('2026-11-20T12:00:00Z');
    const tenantId = newTenant();
    const labels = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`l${index}`, 'x'.repeat(128)]));
    const calls = Array.from({ length: 7_500 }, (_, index) =>
      settled(new Date(Date.parse('2026-11-20T00:00:00Z') + index * 1_000).toISOString(), index, { labels }),
    );
    await dashboard.report(tenantId, calls);
    await setUp(tenantId, { format: 'ndjson', group_by: 'call' });
    await Promise.all([dashboard.stop(), replica.stop()]);

    at('2026-11-21T08:00:00Z');
    const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-exports-'));
    const ca = join(directory, 'ca.pem');
    await writeFile(ca, (await trustedAuthority()).ca);
    const child = fork(
      join(import.meta.dirname, 'dashboard.process.ts'),
      [
        ...[mongo.uri, dashboard.database, String(clock.now), CALLER_TOKEN_SECRET],
        ...[dashboard.identityAddress(), dashboard.logDatabase],
      ],
      { env: { ...process.env, NODE_OPTIONS: '', NODE_EXTRA_CA_CERTS: ca } },
    );
    s3.behavior.intervene = ({ query }) => query.get('partNumber') !== '1' || !child.kill('SIGKILL');
    await once(child, 'exit');
    expect([s3.open().length, s3.objects.has(`finance/spend/${tenantId}/daily/2026-11-20.ndjson`)]).toEqual([1, false]);
    s3.behavior.intervene = pass;
    await Promise.all([dashboard.start(), replica.start()]);
    clock.now += LATER_MS;
    await ended(tenantId, ['2026-11-20']);
    const file = s3.objects.get(`finance/spend/${tenantId}/daily/2026-11-20.ndjson`)!;
    expect(Buffer.byteLength(file)).toBeGreaterThan(8 * 1024 * 1024);
    const span = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';
    expect(file === (await exported(tenantId, `${span}&format=ndjson&group_by=call`))).toBe(true);
    // The parts that the killed process has left are removed too.
    expect(s3.open()).toEqual([]);
    await as(tenantId).remove();
    await rm(directory, { recursive: true });
  });
});

describe('sending now', () => {
  it('sends the last day at once, again at its time, and earlier ones from a date on', async () => {
    at('2026-11-20T03:00:00Z');
    const tenantId = newTenant();
    await setUp(tenantId);
    expect((await as(tenantId).post('send', { kind: 'daily' })).status).toBe(202);
    const early = await ended(tenantId, ['2026-11-19']);
    expect(early).toMatchObject({ next_period: '2026-11-19', next_at: '2026-11-20T08:00:00.000Z' });
    await as(tenantId).post('send', { kind: 'daily', from: '2026-11-16' });
    expect(await ended(tenantId, ['2026-11-18', '2026-11-17', '2026-11-16', '2026-11-19'])).toMatchObject({
      next_period: '2026-11-19',
    });
    at('2026-11-20T08:00:00Z');
    await eventually(async () => expect((await scheduleOf(tenantId)).next_period).toBe('2026-11-20'));
    expect(startsOf('daily').filter((call) => call.includes('11-19'))).toHaveLength(2);

    for (const from of ['2026-11-20', '2026-10-19']) {
      const { body } = await as(tenantId).post('send', { kind: 'daily', from });
      expect(body).toMatchObject({
        details: [{ path: 'from', message: expect.stringContaining('from 2026-10-20 on') }],
      });
    }
    expect((await as(tenantId).post('send', { kind: 'monthly' })).body).toMatchObject({ details: [{ path: 'kind' }] });
    await as(tenantId).remove();
  });
});

describe('the settings', () => {
  it('have a secret that is encrypted, and neither answered nor logged, and belong to one workspace', async () => {
    const tenantId = newTenant();
    const saved = await as(tenantId).put(settings({ schedules: [] }));
    const tested = await as(tenantId).post('test');
    expect([saved.status, tested.status, tested.body]).toEqual([
      200,
      200,
      { object_key: `spend/${tenantId}/test.txt` },
    ]);
    const connection = mongo.connection.useDb(dashboard.database);
    const stored = await connection.collection('export_settings').find().toArray();
    const outbox = await connection.collection('audit_outbox').find().toArray();
    const everything = JSON.stringify([
      saved.body,
      (await as(tenantId).get()).body,
      stored,
      outbox,
      dashboard.logs.lines,
    ]);
    expect(everything).not.toContain(SECRET);
    expect((await as(newTenant()).get()).body).toEqual({ settings: null, schedules: [] });
    await as(tenantId).remove();
    expect((await as(tenantId).remove()).status).toBe(404);
  });

  it('are for owners', async () => {
    const tenantId = newTenant();
    const statuses = [
      (await as(tenantId, 'admin').get()).status,
      (await as(tenantId, 'admin').put(settings())).status,
      (await as(tenantId, 'admin').post('test')).status,
      (await as(tenantId, 'admin').post('send', { kind: 'daily' })).status,
    ];
    expect(statuses).toEqual([403, 403, 403, 403]);
  });

  it('keep the secret for the same server only', async () => {
    const tenantId = newTenant();
    const { secret_access_key: secret, ...without } = settings({ schedules: [] });
    expect(secret).toBe(SECRET);
    const refused = { details: [{ path: 'secret_access_key' }] };
    expect((await as(tenantId).put(without)).body).toMatchObject(refused);
    await as(tenantId).put(settings({ schedules: [] }));
    expect((await as(tenantId).put({ ...without, bucket: 'other' })).status).toBe(200);
    expect((await as(tenantId).put({ ...without, endpoint: 'https://s3.example.com' })).body).toMatchObject(refused);
    await as(tenantId).remove();
  });

  it.each([
    ['endpoint', 'http://s3.example.com'],
    ['endpoint', 'https://10.1.2.3'],
    ['endpoint', 'https://[::1]'],
    ['endpoint', 'https://u:p@s3.example.com'],
    ['endpoint', 'https://s3.example.com/bucket'],
    ['bucket', '../other'],
    ['prefix', '../'],
    ['prefix', 'a//'],
    ['prefix', '/a/'],
    ['time_of_day', '24:00'],
    ['group_by', 'label:untracked'],
    ['schedules', ['daily', 'daily']],
  ])('refuse as %s %j', async (path, value) => {
    const { status, body } = await as(newTenant()).put(settings({ [path]: value }));
    expect([status, body]).toMatchObject([400, { details: [{ path }] }]);
  });

  it('are tested with the reason why the bucket cannot be written to', async () => {
    const tenantId = newTenant();
    await as(tenantId).put(settings({ schedules: [] }));
    s3.behavior.intervene = refuse(403, 'InvalidAccessKeyId');
    const { status, body } = await as(tenantId).post('test');
    expect([status, body]).toMatchObject([502, { code: 'destination_unreachable' }]);
    expect((body as { error: string }).error).toBe(
      'The S3 server answered 403 (InvalidAccessKeyId). Correct access_key_id, or send secret_access_key again.',
    );
    await as(tenantId).remove();
  });
});
