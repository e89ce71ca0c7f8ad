import { describe } from '@jest/globals';
import { useWorkspaceInBrowser } from '../src/console/workspace.stage.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeConsoleBlocked } from '../src/suites/console/blocked.suite.ts';
import { describeConsoleBudgets } from '../src/suites/console/budgets.suite.ts';
import { describeEveryPage } from '../src/suites/console/every-page.suite.ts';
import { describeConsoleMoney } from '../src/suites/console/money.suite.ts';
import { describeConsoleRoles } from '../src/suites/console/roles.suite.ts';
import { describeConsoleSessions, describeConsoleTooManyLogIns } from '../src/suites/console/sessions.suite.ts';
import { describeConsoleSpendCharts } from '../src/suites/console/spend-charts.suite.ts';
import { describeConsoleWorksheet } from '../src/suites/console/worksheet.suite.ts';

describe('the console, in a browser', () => {
  const stage = useStandalone(() => ({ LOG_LEVEL: 'info' }));
  const console = useWorkspaceInBrowser(stage);
  describeEveryPage(console);
  describeConsoleSessions(stage, console);
  describeConsoleRoles(stage, console);
  describeConsoleMoney(stage, console);
  describeConsoleSpendCharts(stage, console);
  describeConsoleBudgets(stage, console);
  describeConsoleWorksheet(stage, console);
  describeConsoleBlocked(stage, console);
  describeConsoleTooManyLogIns(console);
});
