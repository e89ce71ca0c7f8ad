import { defineRoute } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';

const EXECUTE_PATH = '/api/v1/execute';
const GONE = { error: 'This endpoint is disabled: Tollkeeper manages agents and does not execute calls for them.' };

/** Whether a path is that of `execute`. Like all paths of the API, it may end with a slash. */
export function isExecute(path: string): boolean {
  return path === EXECUTE_PATH || path === `${EXECUTE_PATH}/`;
}

/** `POST /api/v1/execute` is always 410, with or without a session. Other methods are 405. */
export function answerExecute(req: EdgeRequest, res: EdgeResponse): void {
  if (req.method !== 'POST') throw new AppError('method_not_allowed', 'This path accepts POST.', { allow: ['POST'] });
  res.status(410).json(GONE);
}

/** `execute` for the OpenAPI document. */
export const executeRoute = defineRoute({
  method: 'post',
  audit: { unaudited: 'It does nothing' },
  path: EXECUTE_PATH,
  operationId: 'execute',
  tag: 'Disabled',
  summary: 'Disabled endpoint',
  description: 'Always answers 410. The body has only the field `error`.',
  access: 'public',
  responses: { 410: { description: 'The endpoint is disabled', schema: z.object({ error: z.string() }) } },
  handler: async () => ({ status: 410, body: GONE }),
});
