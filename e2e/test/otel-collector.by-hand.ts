import { describe } from '@jest/globals';
import { useSearchedStandalone } from '../src/searched.stage.ts';
import { describeExamples } from '../src/suites/examples.suite.ts';

describe('examples/', () => {
  describeExamples(useSearchedStandalone(), ['otel-collector']);
});
