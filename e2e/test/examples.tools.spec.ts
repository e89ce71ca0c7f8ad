import { describe, expect, it } from '@jest/globals';
import { exampleFolders } from '../src/examples.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeExamples } from '../src/suites/examples.suite.ts';

const HERE = ['curl', 'vercel-ai-sdk', 'openai-agents-sdk', 'litellm', 'codex', 'claude-code', 'envoy'];

describe('examples/', () => {
  it('has no folder that no suite runs', async () => {
    expect((await exampleFolders()).toSorted()).toEqual(HERE.toSorted());
  });

  describeExamples(useStandalone().deployment, HERE);
});
