import { common } from './common.ts';

/** The words of `index.html`, inserted by the build: people read them before the pages run, or without scripts. */
export const documentText: Record<string, string> = {
  language: 'en',
  title: common.product,
  description: 'Budgets, spend and blocked calls of your AI agents.',
  noScript: 'The Tollkeeper console needs JavaScript. The API does not: see /docs.',
};
