import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, settled, useDashboard } from './dashboard.stack.ts';

const dashboard = useDashboard(useMongo());
const PATH = '/reported-twice';
const WINDOW = { start: '2026-11-21T17:34:56.789Z', end: '2026-11-21T18:34:56.789Z' };

let made = 0;

/** A report of a call of some numbers of tokens. */
function reported(agent_id: string, time: string, tokens: number): GatewayEvent {
  made += 1;
  const settlement_id = agent_id === 'codex' ? `cx:${made}` : `rsp:${made}`;
  const data = { settlement_id, agent_id, run_id: `run-${made}`, input_tokens: tokens, output_tokens: 7 };
  return settled(`2026-11-21T${time}Z`, 100, data);
}

describe('GET /reported-twice', () => {
  it('names the programs whose calls of the last hour another sender reports as well, per workspace', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    await dashboard.report(tenantId, [
      reported('codex', '17:00:00.000', 9),
      reported('gateway', '17:00:01.000', 9),
      reported('codex', '18:00:00.000', 10),
      reported('gateway', '18:00:01.000', 10),
      reported('codex', '18:34:56.788', 11),
      reported('gateway', '18:34:56.788', 12),
    ]);
    await dashboard.report(other, [reported('codex', '18:00:00.000', 10)]);
    expect((await dashboard.get(tenantId, PATH)).body).toEqual({
      window: WINDOW,
      items: [{ program: 'codex', agent_id: 'codex', other_agent_id: 'gateway', calls: 2, alike: 1 }],
    });
    expect((await dashboard.get(other, PATH)).body).toEqual({ window: WINDOW, items: [] });
  });
});
