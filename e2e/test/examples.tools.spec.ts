import { describe, expect, it } from '@jest/globals';
import { exampleFolders } from '../src/examples.ts';
import { useSearchedStandalone } from '../src/searched.stage.ts';
import { describeExamples } from '../src/suites/examples.suite.ts';

const HERE = [
  'curl',
  'vercel-ai-sdk',
  'openai-agents-sdk',
  'litellm',
  'litellm-guardrail',
  'codex',
  'claude-code',
  'envoy',
  'envoy-budgets',
  'nginx',
  'traefik',
  'portkey',
];
/** It reports no calls, and `command-line.int.spec.ts` runs it. */
const OF_COMMAND_LINE = ['gitops'];
/** Its installation takes minutes, so `npm run test:collector` runs it. */
const BY_HAND = ['otel-collector'];
/** It has no commands. A suite of tools/deployment checks its settings. */
const SETTINGS = ['istio'];

describe('examples/', () => {
  it('has no folder that no suite runs', async () => {
    const all = [...HERE, ...OF_COMMAND_LINE, ...BY_HAND, ...SETTINGS];
    expect((await exampleFolders()).toSorted()).toEqual(all.toSorted());
  });

  describeExamples(useSearchedStandalone(), HERE);
});
