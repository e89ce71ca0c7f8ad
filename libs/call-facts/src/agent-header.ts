import type { IncomingHttpHeaders } from 'node:http';

/** The agent that a request names for all of its calls, in the header or metadata `x-tollkeeper-agent`. */
export function agentOf(headers: IncomingHttpHeaders): string | undefined {
  const agent = headers['x-tollkeeper-agent'];
  return typeof agent === 'string' && agent.trim() !== '' ? agent.trim() : undefined;
}
