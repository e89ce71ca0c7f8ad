import { describe } from '@jest/globals';
import { useWorkspaceInBrowser } from '../src/console/workspace.stage.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeConsoleAlerting } from '../src/suites/console/alerting.suite.ts';
import { describeConsoleAudit } from '../src/suites/console/audit.suite.ts';
import { describeConsoleBills } from '../src/suites/console/bills.suite.ts';
import { describeConsoleConnect } from '../src/suites/console/connect.suite.ts';
import { describeConsoleDevice } from '../src/suites/console/device.suite.ts';
import { describeConsoleDialogs } from '../src/suites/console/dialogs.suite.ts';
import { describeConsoleLongList } from '../src/suites/console/long-list.suite.ts';
import { describeConsolePeople } from '../src/suites/console/people.suite.ts';
import { describeConsolePrices } from '../src/suites/console/prices.suite.ts';
import { describeConsoleRaises } from '../src/suites/console/raises.suite.ts';
import { describeConsoleWaysOut } from '../src/suites/console/ways-out.suite.ts';
import { describeConsoleStatement } from '../src/suites/console/statement.suite.ts';

// Beside console.tools.spec.ts, so that two halves of the console's suites run at the same time.
describe('what people do in the console, in a browser', () => {
  const stage = useStandalone(() => ({ LOG_LEVEL: 'info' }));
  const console = useWorkspaceInBrowser(stage);
  describeConsoleDialogs(stage, console);
  describeConsoleLongList(stage, console);
  describeConsoleAlerting(stage, console);
  describeConsoleWaysOut(stage, console);
  describeConsolePeople(stage, console);
  describeConsolePrices(stage, console);
  describeConsoleRaises(stage, console);
  describeConsoleBills(stage, console);
  describeConsoleStatement(stage, console);
  describeConsoleConnect(stage, console);
  describeConsoleAudit(console);
  describeConsoleDevice(stage, console);
});
