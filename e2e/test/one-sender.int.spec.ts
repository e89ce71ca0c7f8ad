import { describe } from '@jest/globals';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeOneSender } from '../src/suites/one-sender.suite.ts';

describe('one sender against the others of a standalone', () => {
  const stage = useStandalone();
  // It is eight services and a database, so a pod's memory is no measure for it.
  describeOneSender(stage, () => ({ all: stage.deployment().processes(), limited: [] }));
});
