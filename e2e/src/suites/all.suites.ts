import type { Stage } from '../deployment.ts';
import { describeAlertsThroughKills } from './alerts-kill.suite.ts';
import { describeAlerts } from './alerts.suite.ts';
import { describeAudit } from './audit.suite.ts';
import { describeBudgets } from './budgets.suite.ts';
import { describeClient } from './client.suite.ts';
import { describeDashboard } from './dashboard.suite.ts';
import { describeEnforcement } from './enforcement.suite.ts';
import { describeKeys } from './keys.suite.ts';
import { describePages } from './pages.suite.ts';
import { describePrices } from './prices.suite.ts';
import { describeRefusals } from './refusals.suite.ts';
import { describeReplay } from './replay.suite.ts';
import { describeRubbish } from './rubbish.suite.ts';
import { describeSecrets } from './secrets.suite.ts';
import { describeSessions } from './sessions.suite.ts';

/** Holds for every Tollkeeper, however it is deployed. */
export function describeTollkeeper(stage: Stage): void {
  const target = stage.deployment;
  describeSessions(target);
  describeKeys(target);
  describeDashboard(target);
  describeBudgets(target);
  describePrices(target);
  describeClient(target);
  describeEnforcement(stage);
  describeAudit(target);
  describeAlerts(stage);
  describeRefusals(target);
  describeRubbish(target);
  describePages(target);
  describeReplay(stage);
  describeAlertsThroughKills(stage);
  describeSecrets(target);
}
