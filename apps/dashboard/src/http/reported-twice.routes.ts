import { AGENT_PROGRAMS, type AgentProgram, identifier, timestamp } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { MAX_COMPARED, type TwiceReports } from '../domain/reported-twice.ts';
import { toTimestamp } from './bodies.ts';

const count = z.int().min(0);

const reportedTwiceSchema = z
  .object({
    window: z.object({ start: timestamp, end: timestamp }).meta({
      description: `What was read: the last hour, or the newest part of it with at most ${MAX_COMPARED.toLocaleString('en')} calls`,
    }),
    items: z
      .array(
        z.object({
          program: z.enum(Object.keys(AGENT_PROGRAMS) as AgentProgram[]),
          agent_id: identifier.meta({ description: 'The agent of the calls that the program reported' }),
          other_agent_id: identifier.meta({ description: 'The agent of those that the other sender reported' }),
          calls: count.meta({ description: 'Calls that the program reported' }),
          alike: count.meta({ description: 'Those of them that the other sender seems to report as well' }),
        }),
      )
      .meta({ description: 'Those with most such calls first' }),
  })
  .meta({ id: 'ReportedTwice' });

/** Calls that two senders report without an id by which they would count once. */
export function createReportedTwiceRoute(reports: TwiceReports): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/reported-twice',
    operationId: 'getReportedTwice',
    tag: 'Dashboard',
    summary: 'Agent programs whose calls a gateway seems to report as well',
    description:
      'Claude Code and Codex report calls without the id of the response, so if a gateway reports the same calls, both ' +
      'count. A program is listed if another sender has reports with the same numbers of tokens within a minute of at ' +
      'least half of its calls. Reports without tokens count if they have the same run or user.',
    access: 'member',
    responses: { 200: { description: 'The programs', schema: reportedTwiceSchema } },
    async handler({ caller: { tenantId }, signal }) {
      const { found, start, end } = await reports.find(tenantId, signal);
      return {
        status: 200,
        body: {
          window: { start: toTimestamp(start), end: toTimestamp(end) },
          items: found.map(({ agentId, otherAgentId, ...pair }) => ({
            ...pair,
            ...{ agent_id: agentId, other_agent_id: otherAgentId },
          })),
        },
      };
    },
  });
}
