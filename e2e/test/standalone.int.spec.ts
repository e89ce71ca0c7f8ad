import { afterAll, beforeAll, describe } from '@jest/globals';
import {
  type StandaloneProcess,
  newDataDirectory,
  removeDataDirectory,
  startStandalone,
} from '../src/standalone.process.ts';
import { describeBudgets } from '../src/suites/budgets.suite.ts';
import { describeDashboard } from '../src/suites/dashboard.suite.ts';
import { describeKeys } from '../src/suites/keys.suite.ts';
import { describeRefusals } from '../src/suites/refusals.suite.ts';
import { describeRubbish } from '../src/suites/rubbish.suite.ts';
import { describePages } from '../src/suites/pages.suite.ts';
import { describeSecrets } from '../src/suites/secrets.suite.ts';
import { describeSessions } from '../src/suites/sessions.suite.ts';

describe('the standalone', () => {
  let dataDirectory: string;
  let standalone: StandaloneProcess;
  const target = () => standalone;

  beforeAll(async () => {
    dataDirectory = await newDataDirectory();
    standalone = await startStandalone({ dataDirectory, env: { LOG_LEVEL: 'trace' } });
  });
  afterAll(async () => {
    await standalone.end('SIGTERM');
    await removeDataDirectory(dataDirectory);
  });

  describeSessions(target);
  describeKeys(target);
  describeDashboard(target);
  describeBudgets(target);
  describeRefusals(target);
  describeRubbish(target);
  describePages(target);
  describeSecrets(target);
});
