import { describe, expect, it } from '@jest/globals';
import { exampleFolders } from '../src/examples.ts';
import { useSearchedStandalone } from '../src/searched.stage.ts';
import { describeExamples } from '../src/suites/examples.suite.ts';

const HERE = [
  'curl',
  'vercel-ai-sdk',
  'openai-agents-sdk',
  'litellm',
  'codex',
  'claude-code',
  'envoy',
  'envoy-budgets',
];
/** It reports no calls, and `command-line.int.spec.ts` runs it. */
const OF_COMMAND_LINE = ['gitops'];
/** Its installation takes minutes, so `npm run test:collector` runs it. */
const BY_HAND = ['otel-collector'];

describe('examples/', () => {
  it('has no folder that no suite runs', async () => {
    expect((await exampleFolders()).toSorted()).toEqual([...HERE, ...OF_COMMAND_LINE, ...BY_HAND].toSorted());
  });

  describeExamples(useSearchedStandalone(), HERE);
});
