import { describe } from '@jest/globals';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeExamples } from '../src/suites/examples.suite.ts';

describe('examples/', () => {
  describeExamples(useStandalone().deployment, ['otel-collector']);
});
