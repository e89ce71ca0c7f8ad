import { describe } from '@jest/globals';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeOneSender } from '../src/suites/one-sender.suite.ts';

describe('one sender against the others of a standalone', () => {
  const stage = useStandalone(() => ({ LOG_LEVEL: 'info' }));
  describeOneSender(stage, () => stage.deployment().processes());
});
