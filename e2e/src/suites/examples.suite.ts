import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import { CONVERSATION, useExamples } from '../examples.ts';
import type { TargetOf } from '../target.ts';

/** As often as the page Connect asks what was understood of reports, which Tollkeeper knows only meanwhile. */
const WATCH_MS = 2_000;

/** Runs the examples in these folders as their READMEs say. */
export function describeExamples(target: TargetOf, folders: readonly string[]): void {
  describe('the example', () => {
    const examples = useExamples(target);
    const answers: string[] = [];
    let owner: ApiClient;
    let watch: NodeJS.Timeout;
    const read = async (below: string): Promise<void> => {
      const { text } = await owner.call({ path: `/w/${target().workspace}/api/v1${below}` });
      answers.push(text);
    };

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      // From now on, so that the first report is among them.
      await read('/intake-reports');
      watch = setInterval(() => void read('/intake-reports').catch(() => undefined), WATCH_MS);
    });
    afterAll(() => clearInterval(watch));

    it.each(folders)(
      '%s counts with its agent, model, tokens and micros by the commands of its README',
      async (folder) => answers.push(await examples.follow(folder)),
    );

    it('leaves no word of a prompt or an answer in a log line or an answer of Tollkeeper', async () => {
      for (const below of ['/dashboard/overview?range=today', '/agents', '/audit?format=ndjson']) await read(below);
      await eventually(async () => {
        await read('/intake-reports');
        expect(answers.some((answer) => answer.includes('first_calls'))).toBe(true);
      });
      expect(target().logs()).toMatch(/"path":"\/v1\/(traces|logs)/);
      const texts = [target().logs(), ...answers].join('\n');
      const found = Object.entries(CONVERSATION).filter(([, words]) => texts.includes(words));
      expect(found).toEqual([]);
    });
  });
}
