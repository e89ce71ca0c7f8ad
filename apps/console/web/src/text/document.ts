import { common } from './common.ts';

/** The words of `index.html`, which the build fills in: what is read before the pages run, or without them. */
export const documentText: Record<string, string> = {
  language: 'en',
  title: common.product,
  description: 'Who may spend what, what was spent, and what was blocked.',
  noScript: 'Tollkeeper’s console needs JavaScript. The API does not: see /docs.',
};
