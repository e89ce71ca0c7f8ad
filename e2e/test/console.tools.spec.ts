import { describe } from '@jest/globals';
import { useBuiltConsole } from '../src/console/built.ts';
import { useWorkspaceInBrowser } from '../src/console/workspace.stage.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeConsoleAlerting } from '../src/suites/console/alerting.suite.ts';
import { describeConsoleBlocked } from '../src/suites/console/blocked.suite.ts';
import { describeConsoleDialogs } from '../src/suites/console/dialogs.suite.ts';
import { describeEveryPage } from '../src/suites/console/every-page.suite.ts';
import { describeConsoleLongList } from '../src/suites/console/long-list.suite.ts';
import { describeConsoleMoney } from '../src/suites/console/money.suite.ts';
import { describeConsolePeople } from '../src/suites/console/people.suite.ts';
import { describeConsoleSessions } from '../src/suites/console/sessions.suite.ts';

describe('the console, in a browser', () => {
  useBuiltConsole();
  const stage = useStandalone();
  const console = useWorkspaceInBrowser(stage);
  describeEveryPage(stage, console);
  describeConsoleSessions(stage, console);
  describeConsoleMoney(stage, console);
  describeConsoleBlocked(stage, console);
  describeConsoleDialogs(stage, console);
  describeConsoleLongList(stage, console);
  describeConsoleAlerting(stage, console);
  describeConsolePeople(stage, console);
});
