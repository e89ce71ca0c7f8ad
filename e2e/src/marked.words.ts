import { randomBytes } from 'node:crypto';

/** Begins every word of this run in prompts and answers, and is nowhere else. */
export const MARK = `marked${randomBytes(8).toString('hex')}`;

/** The words of a sender, which Tollkeeper must not keep: one in its prompts, and one in the answers to it. */
export interface MarkedWords {
  prompt: string;
  answer: string;
}

export function markedWords(sender: string): MarkedWords {
  return { prompt: `${MARK}-${sender}-prompt`, answer: `${MARK}-${sender}-answer` };
}
