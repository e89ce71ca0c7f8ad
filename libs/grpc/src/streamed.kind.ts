import type { z } from 'zod';
import { checkRequest } from './request-check.ts';

/** How one kind of the requests of a stream is answered. Made by {@link streamed}. */
export interface StreamedKind {
  /** Path of the unary RPC as which it is admitted. */
  rpc: string;
  answer(message: unknown, caller: unknown): Promise<object>;
}

/** Requests that have a unary RPC too, with the same schema and quota. `answer` gives the fields of an answer. */
export function streamed<Request, C>(
  { path }: { path: string },
  schema: z.ZodType<Request>,
  answer: (request: Request, caller: C) => Promise<object>,
): StreamedKind {
  return { rpc: path, answer: async (message, caller) => answer(checkRequest(schema, message), caller as C) };
}
