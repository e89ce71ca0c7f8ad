import { describe, expect, it } from '@jest/globals';
import { SECRETS, useCommandLineStage } from '../src/command-line/command-line.stage.ts';
import { useRunner } from '../src/command-line/runner.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeCommandLineFiles } from '../src/suites/command-line/files.suite.ts';
import { describeCommandLineLogIns } from '../src/suites/command-line/log-ins.suite.ts';
import { describeCommandLineOutages } from '../src/suites/command-line/outages.suite.ts';
import { describeCommandLineReading } from '../src/suites/command-line/reading.suite.ts';
import { describeCommandLineSessions } from '../src/suites/command-line/sessions.suite.ts';

describe('the command line', () => {
  const runner = useRunner();
  const stage = useCommandLineStage(useStandalone(() => ({ OIDC_PROVIDERS: JSON.stringify([runner.provider()]) })));
  describeCommandLineSessions(stage);
  describeCommandLineLogIns(stage, runner);
  describeCommandLineFiles(stage);
  describeCommandLineReading(stage);
  describeCommandLineOutages(stage);

  it('never prints a secret, and none is in the log', () => {
    const printed = [...stage.printed(), stage.deployment().logs()].join('\n');
    const leaked = Object.entries(SECRETS).filter(([, secret]) => printed.includes(secret));
    expect(leaked.map(([name]) => name)).toEqual([]);
  });
});
