import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { useExamples } from '../examples.ts';
import { MARK, markedWords } from '../marked.words.ts';
import type { SearchedStage } from '../searched.stage.ts';

/** As often as the page Connect asks what was understood of reports, which Tollkeeper knows only meanwhile. */
const WATCH_MS = 2_000;

/** The examples whose senders report prompts. Those of the others do not leave the machine of the sender. */
const REPORT_PROMPTS = [
  'curl',
  'vercel-ai-sdk',
  'openai-agents-sdk',
  'litellm',
  'litellm-guardrail',
  'portkey',
  'otel-collector',
];

/** Runs the examples in these folders as their READMEs say. */
export function describeExamples(stage: SearchedStage, folders: readonly string[]): void {
  describe('the example', () => {
    const examples = useExamples(stage.target, stage.enforcerAddress);
    const slug = () => stage.target().workspace;
    let watch: NodeJS.Timeout;

    beforeAll(async () => {
      // From now on, so that the first report is among them.
      await stage.watch(slug());
      watch = setInterval(() => void stage.watch(slug()).catch(() => undefined), WATCH_MS);
    });
    afterAll(() => clearInterval(watch));

    it.each(folders)('%s counts with its agent, model, tokens and micros by the commands of its README', (folder) =>
      examples.follow(folder),
    );

    it('leaves no word of a prompt or an answer in anything that Tollkeeper writes or answers', async () => {
      await eventually(async () => expect(await stage.watch(slug())).toContain('first_calls'));
      const senders = folders.filter((folder) =>
        examples.exchanges().some(({ sent }) => sent.includes(markedWords(folder).prompt)),
      );
      expect(senders).toEqual(folders.filter((folder) => REPORT_PROMPTS.includes(folder)));
      for (const { path, answer } of examples.exchanges()) stage.add(`answer to ${path}`, answer);
      // Agents that only had their calls denied are in none of the packed documents.
      const { items } = await stage.owner().expect<{ items: { agent_id: string; total_micros: number }[] }>({
        path: `/w/${slug()}/api/v1/dashboard/top-agents?range=today&limit=100`,
      });
      const spenders = items.filter(({ total_micros: spent }) => spent > 0);
      expect(spenders.length).toBeGreaterThanOrEqual(folders.length);
      for (const { agent_id } of spenders) {
        const places = (await stage.find(agent_id, [slug()])).map(({ place }) => place);
        expect(places).toContain('tollkeeper_dashboard.chunks, packed');
      }
      expect(await stage.find(MARK, [slug()])).toEqual([]);
    });
  });
}
