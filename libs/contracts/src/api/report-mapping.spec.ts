import { describe, expect, it } from '@jest/globals';
import { reportMapping } from './report-mapping.ts';

const PROMPTS = [
  ...['gen_ai.prompt', 'gen_ai.prompt.0.content', 'gen_ai.completion', 'gen_ai.completion.12.content'],
  ...['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions', 'gen_ai.tool.call.arguments'],
  ...['llm.input_messages.0.message.content', 'llm.output_messages', 'llm.prompts', 'llm.invocation_parameters'],
  ...['input.value', 'output.value', 'ai.prompt.messages', 'ai.response.text', 'ai.response.toolCalls'],
  ...['langfuse.observation.input', 'langfuse.trace.output', 'traceloop.entity.input'],
  ...['$.messages', '$.response.choices'],
];

const isRefused = (mapping: object) =>
  reportMapping.safeParse(mapping).error?.issues.some(({ message }) => message.includes('prompt')) === true;

describe('a mapping of reports', () => {
  it.each(PROMPTS)('does not read %s, as a whole or by a path into it', (name) => {
    for (const each of [name, `${name}#`, `${name}#0.content`]) {
      expect([each, isRefused({ agent: each }), isRefused({ run: each }), isRefused({ labels: { a: each } })]).toEqual([
        ...[each, true, true, true],
      ]);
    }
  });

  it.each(['gen_ai.prompt.name', 'gen_ai.prompt.version', 'app.project', 'app.tags#0', '$.metadata.team'])(
    'reads %s',
    (name) => expect(reportMapping.safeParse({ agent: name, run: name, labels: { a: name } }).success).toBe(true),
  );
});
