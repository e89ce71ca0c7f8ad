import { common } from './common.ts';

/** The words of `index.html`, which the build fills in: people read them before the pages run, or without them. */
export const documentText: Record<string, string> = {
  language: 'en',
  title: common.product,
  description: 'Budgets, spend and blocked calls of your AI agents.',
  noScript: 'The Tollkeeper console needs JavaScript. The API does not: see /docs.',
};
