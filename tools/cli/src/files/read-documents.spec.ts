import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jsonSchema } from './document.ts';
import { readDocuments } from './read-documents.ts';
import { createSecretReader } from './secrets.ts';

const HEAD = 'version: 1\nworkspace: { slug: demo }\n';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'tollkeeper-cli-'))));
afterEach(() => rm(folder, { recursive: true }));

/** The message about a file with this text, without its folder. */
async function refusalOf(text: string): Promise<string> {
  await writeFile(join(folder, 'a.yaml'), text);
  const error = await readDocuments([folder]).catch((refusal: Error) => refusal);
  if (!(error instanceof Error)) throw new Error('the file was read');
  return error.message.replaceAll(`${folder}/`, '');
}

describe('the files', () => {
  it('of a folder are read as one document for each workspace, with their defaults', async () => {
    await writeFile(join(folder, 'b.yml'), `${HEAD.replace('demo', 'b1')}---\n${HEAD.replace('demo', 'b2')}`);
    await writeFile(join(folder, 'a.yaml'), `${HEAD}agents: [{ agent_id: night-shift }]\n`);
    await writeFile(join(folder, 'notes.txt'), 'no YAML: {');
    const documents = (await readDocuments([folder])).map(({ document }) => document);
    expect(documents.map(({ workspace }) => workspace.slug)).toEqual(['demo', 'b1', 'b2']);
    expect(documents[0]?.agents).toEqual([{ agent_id: 'night-shift', labels: {}, daily_budget_usd: null }]);
    expect(documents[1]?.agents).toBeUndefined();
  });

  it.each([
    [
      'a value that is wrong',
      `${HEAD}budgets:\n  - { name: A, period: { kind: day }, limit_usd: -5 }`,
      /a\.yaml:4: budgets\[0\]\.limit_usd: Too small/,
    ],
    [
      'a field that is missing',
      `${HEAD}plans:\n  - plan_key: a\n    display_name: A`,
      /a\.yaml:4: plans\[0\]\.daily_budget_usd: /,
    ],
    [
      'a field that does not exist',
      `${HEAD}agents:\n  - { agent_id: a, budget: 5 }`,
      /a\.yaml:4: agents\[0\]: .*"budget"/,
    ],
    ['a version of the future', HEAD.replace('1', '2'), /a\.yaml:1: version: /],
    ['broken YAML', `${HEAD}agents: [`, /a\.yaml:\d+: Flow sequence/],
    ['an alias', `${HEAD}agents: [&a { agent_id: a }, *a]`, /a\.yaml:3: aliases are not read/],
    [
      'an entry that is there twice',
      `${HEAD}agents: [{ agent_id: a }, { agent_id: a }]`,
      /agents: agent_id "a" is there twice/,
    ],
    ['a workspace that is there twice', `${HEAD}---\n${HEAD}`, /a\.yaml:3: workspace\.slug: demo is also in a\.yaml:1/],
    ['a field beside the sections', `${HEAD}agent: []`, /a\.yaml:1: Unrecognized key: "agent"/],
    ['nothing', '', /has no document\. Start with `tollkeeper export`/],
  ])('are refused for %s, with the line and the field', async (_name, text, message) => {
    expect(await refusalOf(text)).toMatch(message);
  });

  it('are refused for a secret in them, without showing it', async () => {
    const channel = '{ name: A, channel_type: chat, config: { webhook_url: "https://chat.example/T0P-SECRET" } }';
    const refusal = await refusalOf(`${HEAD}channels:\n  - ${channel}`);
    expect(refusal).toMatch(/a\.yaml:4: channels\[0\]\.config\.webhook_url: /);
    expect(refusal).not.toContain('T0P-SECRET');
  });
});

it('a file without an end is refused, and no secret is read from one', async () => {
  await expect(readDocuments(['/dev/zero'])).rejects.toThrow(/has more than 8388608 bytes/);
  const read = createSecretReader(folder, true, () => undefined);
  await expect(read({ file: '/dev/zero' }, 'webhook_url')).rejects.toThrow(/has more than 4096 bytes/);
  await writeFile(join(folder, 'secret'), 'x\n');
  await expect(read({ file: 'secret' }, 'webhook_url')).resolves.toBe('x');
});

it('the committed schema is the one that `tollkeeper schema` prints', async () => {
  const committed = await readFile(join(import.meta.dirname, '../../tollkeeper.schema.json'), 'utf8');
  expect(JSON.parse(committed)).toEqual(jsonSchema());
});
