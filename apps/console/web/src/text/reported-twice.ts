import type { Api } from '@tollkeeper/client';
import { counted } from './plurals.ts';

const CALLS = { one: 'call', other: 'calls' };

type Item = Api.ReportedTwice['items'][number];

const PROGRAMS = { claude_code: 'Claude Code', codex: 'Codex' } satisfies Record<Item['program'], string>;

export const reportedTwice = {
  title: 'Possibly counted twice',
  item: ({ program, agent_id, other_agent_id, alike, calls }: Item, since: string) =>
    `Since ${since}, ${PROGRAMS[program]} reported ${counted(calls, CALLS)} of the agent ${agent_id}. ` +
    `${alike} of them may also be reported by a gateway, as calls of the agent ${other_agent_id}.`,
  advice:
    'Report each call at one place only: turn off the telemetry of the agent program, or the reports of the gateway.',
};
