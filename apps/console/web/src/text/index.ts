import { agents } from './agents.ts';
import { alerts } from './alerts.ts';
import { blocked } from './blocked.ts';
import { budgets } from './budgets.ts';
import { common } from './common.ts';
import { firstRun } from './first-run.ts';
import { invitation } from './invitation.ts';
import { labels } from './labels.ts';
import { limits } from './limits.ts';
import { login } from './login.ts';
import { members } from './members.ts';
import { overview } from './overview.ts';
import { reset } from './reset.ts';
import { settings } from './settings.ts';
import { spend } from './spend.ts';

/**
 * Texts of the pages, one file per page. Texts with figures are functions. Those of pages that people rarely open, such
 * as rules, channels and keys, are not here, so that the first page does not load them.
 */
export const text = {
  agents,
  alerts,
  blocked,
  budgets,
  common,
  firstRun,
  invitation,
  labels,
  limits,
  login,
  members,
  overview,
  reset,
  settings,
  spend,
};
