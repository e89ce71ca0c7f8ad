import { randomUUID } from 'node:crypto';
import { spendSettled } from '../events.ts';
import { allTheTime, type Attack, inTurns, post, statusOf } from './attack.ts';

const BLOCKED_AGENT = 'agent-blocked';

/** Requests that are expensive to answer, or too frequent. */
export const REQUEST_ATTACKS: readonly Attack[] = [
  {
    name: 'the top of 60,000 agents, read 200 at a time',
    prepare: async (sender) =>
      void (await inTurns(60, 2, (batch) =>
        post(
          sender,
          Array.from({ length: 1000 }, (_, index) =>
            spendSettled({ agentId: `agent-${batch * 1000 + index}`, amountMicros: 1 }),
          ),
        ),
      )),
    strike: ({ session, workspace }, others) =>
      allTheTime(200, others, () =>
        statusOf(session.call({ path: workspace.path('/dashboard/top-agents?range=today&limit=100') })),
      ),
  },
  {
    name: '200 callers that are denied all the time',
    async prepare({ session, workspace }) {
      const agent = { agent_id: BLOCKED_AGENT, display_name: 'Blocked' };
      await session.expect({ method: 'POST', path: workspace.path('/agents'), body: agent, status: 201 });
      const path = `/api/v1/workspaces/${workspace.id}/budgets/agents/${BLOCKED_AGENT}`;
      await session.expect({ method: 'PUT', path, body: { daily_budget_usd_micros: 0 } });
    },
    strike: ({ target, workspace }, others) =>
      allTheTime(200, others, () =>
        statusOf(
          fetch(`${target.baseUrl}/api/v1/reservations`, {
            method: 'POST',
            headers: { authorization: `Bearer ${workspace.apiKey}`, 'content-type': 'application/json' },
            body: JSON.stringify({
              ...{ request_id: randomUUID(), agent_id: BLOCKED_AGENT, run_id: 'run-1', amount_micros: 1 },
            }),
          }).then(async (answer) => {
            await answer.arrayBuffer();
            return answer;
          }),
        ),
      ),
  },
  {
    name: '250 changes of a rule at a time',
    async strike({ session, workspace }, others) {
      const rules = workspace.path('/alerts/rules');
      const body = {
        name: 'Changed often',
        severity: 'low',
        scope_type: 'workspace',
        scope_id: workspace.id,
        rule_kind: 'event_count_gte',
        rule_config: { window_seconds: 600, threshold: 1000 },
      };
      const { id } = await session.expect<{ id: string }>({ method: 'POST', path: rules, body, status: 201 });
      return allTheTime(250, others, (index) =>
        statusOf(session.call({ method: 'PATCH', path: `${rules}/${id}`, body: { name: `Changed ${index} times` } })),
      );
    },
  },
  {
    name: '250 changes of a workspace at a time',
    strike: ({ session, workspace }, others) =>
      allTheTime(250, others, (index) =>
        statusOf(
          session.call({
            method: 'PATCH',
            path: workspace.path('/workspace'),
            body: { name: `Changed ${index} times` },
          }),
        ),
      ),
  },
];
