import { Agent, request } from 'node:http';
import { waitFor } from './wait.ts';

const REQUEST_TIMEOUT_MS = 15_000;
const NOTIFIED_TIMEOUT_MS = 60_000;
const COUNTED_TIMEOUT_MS = 120_000;
const MONTH_MS = 31 * 24 * 3_600_000;
const RULE_SECONDS = 24 * 3_600;
const RESERVED_MICROS = 1;
/** Longer than a roll-out of everything, and back. */
const TTL_SECONDS = 3_600;

export interface Answer {
  /** 0 without an answer. */
  status: number;
  text: string;
}

/** Tollkeeper as its users and their gateways see it. */
export interface ProductClient {
  readonly owner: { email: string; password: string };
  /** Gets a page of the console, or reads a path below the API of the workspace. */
  page(): Promise<Answer>;
  read(path: string): Promise<Answer>;
  /** Reports a settled call of `agent`, once; `time` is now by default. */
  report(agent: string, id: string, time?: Date): Promise<Answer>;
  /** Reports an event that rules count. */
  alarm(type: string, id: string): Promise<Answer>;
  /** Asks for `RESERVED_MICROS` for a call of `agent`, once. */
  reserve(agent: string, requestId: string): Promise<Answer>;
  /** Settles a reservation with all of them. */
  settle(reservationId: string): Promise<Answer>;
  /** Resolves once `number` settled calls of `agent` are counted in the last month; rejects with the actual number. */
  waitUntilCounted(agent: string, number: number): Promise<void>;
  /** Creates a channel to `url` and resolves to its id. */
  createChannel(url: string): Promise<string>;
  /** Creates a rule that fires at `threshold` events of `type`, and resolves to its id. */
  createRule(channelId: string, type: string, threshold: number): Promise<string>;
  /** Resolves once there is an alert of the rule, and it is delivered; rejects if there are more. */
  waitUntilDelivered(ruleId: string): Promise<void>;
}

const JSON_BODY = { 'content-type': 'application/json' };

/** Logs in and creates a key. With `keepAlive` false, each request gets a new connection. */
export async function connect(baseUrl: string, owner: { email: string; password: string }): Promise<ProductClient> {
  const send = senderTo(baseUrl);
  const { workspace, read, create } = await logIn(send, owner);
  const { api_key: key } = await create<{ api_key: string }>('/management/workspace-keys', {
    name: 'cluster',
    role: 'developer',
  });
  const bearer = { authorization: `Bearer ${key}` };

  function post(type: string, id: string, data: object, time = new Date()): Promise<Answer> {
    const headers = { ...bearer, 'content-type': 'application/cloudevents+json' };
    const event = { specversion: '1.0', id, source: 'cluster', type, time: time.toISOString(), data };
    return send('POST', '/api/v1/events', headers, event);
  }

  async function counted(agent: string): Promise<number> {
    const from = new Date(Date.now() - MONTH_MS).toISOString();
    const { status, text } = await read(`/dashboard/top-agents/details?from=${from}&agent_id=${agent}`);
    if (status === 404) return 0;
    if (status !== 200) return Number.NaN;
    return (JSON.parse(text) as { metrics: { unique_settlements: number } }).metrics.unique_settlements;
  }

  return {
    owner,
    read,
    page: () => send('GET', '/', {}),
    report: (agent, id, time) =>
      post('spend.settled', id, { settlement_id: id, run_id: 'run', agent_id: agent, amount_micros: 1 }, time),
    alarm: (type, id) => post(type, id, { run_id: 'run', agent_id: 'alarm' }),
    reserve(agent, request_id) {
      const body = {
        request_id,
        agent_id: agent,
        run_id: 'run',
        amount_micros: RESERVED_MICROS,
        ttl_seconds: TTL_SECONDS,
      };
      return send('POST', '/api/v1/reservations', { ...JSON_BODY, ...bearer }, body);
    },
    settle(id) {
      const body = { settlement_id: id, amount_micros: RESERVED_MICROS };
      return send('POST', `/api/v1/reservations/${id}:settle`, { ...JSON_BODY, ...bearer }, body);
    },
    async waitUntilCounted(agent, number) {
      let last = 0;
      await waitFor(`${number} events of ${agent} to be counted`, COUNTED_TIMEOUT_MS, async () => {
        last = await counted(agent);
        return last === number ? true : undefined;
      }).catch((error: Error) => {
        throw new Error(`${error.message}: ${last} were`);
      });
    },
    async createChannel(url) {
      const config = { url, signing_secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
      return (await create<{ id: string }>('/alerts/channels', { channel_type: 'webhook', config })).id;
    },
    async createRule(channelId, type, threshold) {
      const rule = await create<{ id: string }>('/alerts/rules', {
        name: `Cluster: ${type}`,
        severity: 'high',
        scope_type: 'workspace',
        scope_id: workspace.id,
        rule_kind: 'event_count_gte',
        rule_config: { window_seconds: RULE_SECONDS, threshold, filters: { event_types: [type] } },
        channel_config_ids: [channelId],
      });
      return rule.id;
    },
    async waitUntilDelivered(ruleId) {
      await waitFor('the alert to be delivered', NOTIFIED_TIMEOUT_MS, async () => {
        const { text } = await read(`/alerts?rule_id=${ruleId}`);
        const { items = [] } = JSON.parse(text) as { items?: { deliveries: { status: string }[] }[] };
        if (items.length > 1) throw new Error(`${items.length} alerts instead of one`);
        return items.find(({ deliveries }) => deliveries.some((delivery) => delivery.status === 'delivered'));
      });
    },
  };
}

/** The API of the owner's first workspace. */
async function logIn(send: ReturnType<typeof senderTo>, owner: { email: string; password: string }) {
  const login = await send('POST', '/api/v1/auth/login', JSON_BODY, owner);
  if (login.status !== 200) throw new Error(`${owner.email} can't log in: ${login.status} ${login.text}`);
  const { workspaces } = JSON.parse(login.text) as { workspaces: { id: string; slug: string }[] };
  const [workspace] = workspaces;
  if (workspace === undefined) throw new Error(`${owner.email} has no workspace`);
  const session = { ...JSON_BODY, cookie: login.cookie ?? '' };
  const api = `/w/${workspace.slug}/api/v1`;
  return {
    workspace,
    read: (path: string) => send('GET', `${api}${path}`, session),
    async create<T>(path: string, body: unknown): Promise<T> {
      const { status, text } = await send('POST', `${api}${path}`, session, body);
      if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
      return JSON.parse(text) as T;
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
