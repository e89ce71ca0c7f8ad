import { newId } from '@tollkeeper/kernel';
import { eventually, type TestMongo } from '@tollkeeper/testing';
import { type Body, useEnforcer } from './enforcer.stack.ts';

export type Entries = Record<string, string | number | undefined>;

/** A descriptor; `hits` is its addend. */
export function descriptor({ hits, ...entries }: Entries) {
  return {
    entries: Object.entries(entries).map(([key, value]) => ({ key, value: String(value) })),
    ...(hits !== undefined && { hitsAddend: { value: hits } }),
  };
}

export const headersOf = (answer: Body, field: string) =>
  Object.fromEntries((answer[field] as { key: string; value: string }[]).map(({ key, value }) => [key, value]));

/** Two replicas of the enforcer, with workspaces whose proxies ask as Envoy's rate limit filter does. */
export function useRateLimits(mongo: TestMongo) {
  const stack = useEnforcer(mongo, { replicas: 2 });
  type Workspace = ReturnType<typeof stack.newWorkspace>;

  return {
    ...stack,

    /** What Envoy would ask about a call of the workspace, again while the answer is UNAVAILABLE. */
    proxyOf(workspace: Workspace, call: Entries = { agent: 'planner', call: newId('req'), run: 'run-1' }) {
      const send = (descriptors: Entries[], replica = 0) =>
        eventually(async () => {
          const request = { domain: 'tollkeeper', descriptors: descriptors.map(descriptor) };
          const answer = await workspace.rpc('ShouldRateLimit', request, replica);
          if (answer['status'] === 'UNAVAILABLE') {
            stack.passRetryAfter();
            throw new Error(JSON.stringify(answer));
          }
          return answer;
        });
      return {
        send,
        reserve: (more: Entries, replica = 0) => send([{ tollkeeper: 'reserve', ...call, ...more }], replica),
        /** Reports the descriptors of one call together. */
        report: (...reports: Entries[]) => send(reports.map((one) => ({ ...call, ...one }))),
      };
    },

    /** The limit of the workspace once the log is read. */
    async counted(workspace: Workspace) {
      await stack.posted();
      const { spent_micros: spent, held_micros: held } = await workspace.limit();
      return { spent, held };
    },
  };
}
