import { eventually } from '@tollkeeper/testing/eventually';
import { freePort, halt } from '@tollkeeper/managed-process';
import {
  newDataDirectory,
  removeDataDirectory,
  type StandaloneProcess,
  startStandalone,
} from '@tollkeeper/testing/standalone-process';

export interface Reservation {
  id: string;
  request_id: string;
  agent_id: string;
  run_id: string;
  amount_micros: number;
  state: string;
  settled_micros: number | null;
  settlement_id: string | null;
  model: string | null;
  provider: string | null;
  labels: Record<string, string>;
}

interface Lease {
  id: string;
  amount_micros: number;
  settled_micros: number;
  left_micros: number;
  state: string;
}

interface Limit {
  spent_micros: number;
  held_micros: number;
  overspend_micros: { above_hold: number; late: number; unreserved: number };
}

interface Settlement {
  settlement_id: string;
  run_id: string;
  amount_micros: number;
  model: string;
  provider: string;
  input_tokens: number;
  output_tokens: number;
}

/** The real Tollkeeper in a process of its own, at the same address after each restart. */
export interface Tollkeeper {
  url: string;
  key: string;
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
  /** Suspends the process: it takes connections and answers nothing. */
  halt(): Promise<void>;
  goOn(): void;
  /** Sets a daily budget, and resolves when it counts. */
  setBudget(agentId: string, dailyBudgetMicros: number): Promise<void>;
  /** Pauses the calls of an agent for an hour. */
  pause(agentId: string, reason: string): Promise<void>;
  limitOf(agentId: string): Promise<Limit>;
  /** Of an agent, newest first. */
  reservationsOf(agentId: string): Promise<Reservation[]>;
  leasesOf(agentId: string): Promise<Lease[]>;
  /** Of an agent on this day, newest first, as the dashboard has them. */
  settlementsOf(agentId: string): Promise<Settlement[]>;
  /** Denied calls of an agent, as the dashboard has them: those that repeat within a second are one item. */
  blockedOf(agentId: string): Promise<Blocked[]>;
  /** Another key of the workspace, which pins these labels. */
  newKey(labels: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

interface Blocked {
  agent_id: string;
  scope: string;
  /** How many calls it stands for; 1 where it is absent. */
  count?: number;
}

export async function startTollkeeper(): Promise<Tollkeeper> {
  const dataDirectory = await newDataDirectory();
  const env = { PORT: String(await freePort()) };
  let standalone: StandaloneProcess = await startStandalone({ dataDirectory, env });
  const { baseUrl, owner, workspace, apiKey } = standalone;
  const login = await fetch(`${baseUrl}/api/v1/auth/login`, post({ email: owner.email, password: owner.password }));
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { workspaces } = (await login.json()) as { workspaces: { id: string }[] };

  async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await fetch(`${baseUrl}/w/${workspace}/api/v1${path}`, {
      ...init,
      headers: { ...init.headers, cookie },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
  const read = async <T>(path: string) => (await call<{ items: T[] }>(path)).items;
  const limitsOf = async (agentId: string) => {
    const limits = await read<Limit & { scope: string; daily_budget_usd_micros: number }>(
      `/limits?agent_id=${agentId}`,
    );
    return limits.filter(({ scope }) => scope === 'agent');
  };

  return {
    url: baseUrl,
    key: apiKey,
    async start() {
      standalone = await startStandalone({ dataDirectory, env });
    },
    async end(signal) {
      await standalone.end(signal);
    },
    halt: () => halt(standalone.pid),
    goOn: () => void process.kill(standalone.pid, 'SIGCONT'),
    async setBudget(agentId, dailyBudgetMicros) {
      await call('/agents', post({ agent_id: agentId, display_name: agentId })).catch(() => undefined);
      const path = `/workspaces/${workspaces[0]?.id}/budgets/agents/${agentId}`;
      await call(path, { ...post({ daily_budget_usd_micros: dailyBudgetMicros }), method: 'PUT' });
      await eventually(async () => {
        const [limit] = await limitsOf(agentId);
        if (limit?.daily_budget_usd_micros !== dailyBudgetMicros) throw new Error('The budget does not count yet.');
      });
    },
    async pause(agentId, reason) {
      const until = new Date(Date.now() + 3_600_000).toISOString();
      await call('/pauses', post({ scope: 'agent', value: agentId, until, reason }));
    },
    async limitOf(agentId) {
      const [limit] = await limitsOf(agentId);
      if (limit === undefined) throw new Error(`${agentId} has no limit`);
      return limit;
    },
    reservationsOf: (agentId) => read(`/limits/reservations?agent_id=${agentId}`),
    leasesOf: (agentId) => read(`/limits/leases?agent_id=${agentId}`),
    async settlementsOf(agentId) {
      const path = `/dashboard/top-agents/details?range=today&agent_id=${agentId}`;
      return (await call<{ recent: Settlement[] }>(path)).recent;
    },
    async blockedOf(agentId) {
      const items = await read<Blocked>('/dashboard/budget-blocked?range=today&limit=100');
      return items.filter(({ agent_id }) => agent_id === agentId);
    },
    async newKey(labels) {
      const body = { name: 'pinned', role: 'developer', labels };
      return (await call<{ api_key: string }>('/management/workspace-keys', post(body))).api_key;
    },
    async remove() {
      await standalone.end('SIGTERM');
      await removeDataDirectory(dataDirectory);
    },
  };
}

function post(body: object): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
