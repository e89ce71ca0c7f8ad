import { Agent, request } from 'node:http';
import { waitFor } from './wait.ts';

const REQUEST_TIMEOUT_MS = 15_000;
const NOTIFIED_TIMEOUT_MS = 60_000;
const COUNTED_TIMEOUT_MS = 120_000;

export interface Answer {
  /** 0 without an answer. */
  status: number;
  text: string;
}

/** Tollkeeper as its users and their gateways see it. */
export interface ProductClient {
  readonly owner: { email: string; password: string };
  /** Reads from the dashboard, the rules or the keys, each from a different service. */
  read(path: '/dashboard/spend?range=today' | '/alerts/rules' | '/management/workspace-keys'): Promise<Answer>;
  /** Reports a settled call of `agent`, once. */
  report(agent: string, id: string): Promise<Answer>;
  /** Number of counted settled calls of `agent`. */
  counted(agent: string): Promise<number>;
  /** Resolves once `number` of them are counted; rejects with the actual number. */
  waitUntilCounted(agent: string, number: number): Promise<void>;
  /** Creates a channel to `url` and a rule, fires it, and resolves once its notification is delivered. */
  fireAlert(url: string): Promise<void>;
}

/** Logs in and creates a key. With `keepAlive` false, each request gets a new connection. */
export async function connect(baseUrl: string, owner: { email: string; password: string }): Promise<ProductClient> {
  const send = senderTo(baseUrl);
  const json = { 'content-type': 'application/json' };
  const login = await send('POST', '/api/v1/auth/login', json, owner);
  if (login.status !== 200) throw new Error(`${owner.email} can't log in: ${login.status} ${login.text}`);
  const { workspaces } = JSON.parse(login.text) as { workspaces: { id: string; slug: string }[] };
  const [workspace] = workspaces;
  if (workspace === undefined) throw new Error(`${owner.email} has no workspace`);
  const session = { ...json, cookie: login.cookie ?? '' };
  const api = `/w/${workspace.slug}/api/v1`;
  const create = async <T>(path: string, body: unknown) => {
    const { status, text } = await send('POST', `${api}${path}`, session, body);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  };
  const { api_key: key } = await create<{ api_key: string }>('/management/workspace-keys', {
    name: 'cluster',
    role: 'developer',
  });

  function post(type: string, id: string, data: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/cloudevents+json' };
    const event = { specversion: '1.0', id, source: 'cluster', type, time: new Date().toISOString(), data };
    return send('POST', '/api/v1/events', headers, event);
  }

  async function counted(agent: string): Promise<number> {
    const path = `${api}/dashboard/top-agents/details?range=today&agent_id=${agent}`;
    const { status, text } = await send('GET', path, session);
    if (status === 404) return 0;
    if (status !== 200) return Number.NaN;
    return (JSON.parse(text) as { metrics: { unique_settlements: number } }).metrics.unique_settlements;
  }

  return {
    owner,
    counted,
    read: (path) => send('GET', `${api}${path}`, session),
    report: (agent, id) =>
      post('spend.settled', id, { settlement_id: id, run_id: 'run', agent_id: agent, amount_micros: 1 }),
    async waitUntilCounted(agent, number) {
      let last = 0;
      await waitFor(`${number} events of ${agent} to be counted`, COUNTED_TIMEOUT_MS, async () => {
        last = await counted(agent);
        return last === number ? true : undefined;
      }).catch((error: Error) => {
        throw new Error(`${error.message}: ${last} were`);
      });
    },
    async fireAlert(url) {
      const config = { url, signing_secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
      const channel = await create<{ id: string }>('/alerts/channels', { channel_type: 'webhook', config });
      const rule = await create<{ id: string }>('/alerts/rules', {
        name: 'Cluster',
        severity: 'high',
        scope_type: 'workspace',
        scope_id: workspace.id,
        rule_kind: 'event_count_gte',
        rule_config: { window_seconds: 600, threshold: 1, filters: { event_types: ['cluster.alarm'] } },
        channel_config_ids: [channel.id],
      });
      const { status, text } = await post('cluster.alarm', rule.id, { run_id: 'run', agent_id: 'walk' });
      if (status !== 202) throw new Error(`POST an event: ${status} ${text}`);
      await waitFor('the alert to be delivered', NOTIFIED_TIMEOUT_MS, async () => {
        const alerts = await send('GET', `${api}/alerts`, session);
        const { items = [] } = JSON.parse(alerts.text) as { items?: { deliveries: { status: string }[] }[] };
        return items.find(({ deliveries }) => deliveries.some((delivery) => delivery.status === 'delivered'));
      });
    },
  };
}

function senderTo(baseUrl: string) {
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: false })];
  let requests = 0;

  return function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Answer & { cookie?: string }> {
    requests += 1;
    return new Promise((settle) => {
      const agent = agents[requests % agents.length];
      const options = { method, headers, agent, timeout: REQUEST_TIMEOUT_MS };
      const outgoing = request(new URL(path, baseUrl), options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', (error) => settle({ status: 0, text: error.message }));
        answer.on('end', () => {
          const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0];
          settle({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString(), ...(cookie && { cookie }) });
        });
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${REQUEST_TIMEOUT_MS / 1000} s`)));
      outgoing.on('error', (error: NodeJS.ErrnoException) => settle({ status: 0, text: error.code ?? error.message }));
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  };
}
