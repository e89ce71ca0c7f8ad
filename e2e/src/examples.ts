import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import { eventually } from '@tollkeeper/testing';
import { environmentOf, outputOf, runScript } from './example.shell.ts';
import { MARK, markedWords } from './marked.words.ts';
import { blocksOf } from './readme.blocks.ts';
import { type Exchange, type ReportingProxy, startReportingProxy } from './reporting.proxy.ts';
import type { TargetOf } from './target.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
/** Installed packages, and what an earlier try of a person left. */
const INSTALLED = new Set([
  '.venv',
  'bin',
  'cookies',
  'envoy.local.yaml',
  'home',
  'local',
  'node_modules',
  'package-lock.json',
]);
/** The examples use ports from 14000 on, and no other number there looks like one. */
const PORT = /\b14\d{3}\b/g;

/** What every example asks its model, and how the answer begins. */
const CONVERSATION = { prompt: 'Why is the sky blue?', answer: 'Air scatters blue light' };
const STUB = 'model-stub/server.mjs';

/** The folders of examples that report calls. */
export async function exampleFolders(): Promise<string[]> {
  const entries = await readdir(EXAMPLES, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && entry.name !== 'model-stub').map(({ name }) => name);
}

export interface Examples {
  /**
   * Follows the README of an example, in a copy of it: runs its blocks of `sh` in order, the last of which asks
   * Tollkeeper, until the answer has what its block of `json` says. Its prompts, and the answers to it, have marked
   * words.
   */
  follow(folder: string): Promise<void>;
  /** All requests to Tollkeeper so far, and their answers. */
  exchanges(): readonly Exchange[];
}

/** The examples, on free ports instead of those in their files, which others on this machine may use. */
export function useExamples(target: TargetOf, enforcerAddress: () => string): Examples {
  let copy: string;
  let proxy: ReportingProxy;

  beforeAll(async () => {
    proxy = await startReportingProxy(() => target().baseUrl);
    copy = await mkdtemp(join(tmpdir(), 'tollkeeper-examples-'));
    await cp(EXAMPLES, copy, { recursive: true, filter: (path) => !INSTALLED.has(basename(path)) });
    await useFreePorts(copy);
  });
  afterAll(async () => {
    await proxy?.stop();
    await rm(copy, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Writes the words of this example after those that all of them share. */
  async function mark(folder: string): Promise<void> {
    const words = markedWords(folder);
    for (const path of await filesIn(join(copy, folder))) await markIn(path, CONVERSATION.prompt, words.prompt);
    await markIn(join(copy, STUB), CONVERSATION.answer, words.answer);
  }

  return {
    exchanges: () => proxy.exchanges,
    async follow(folder) {
      await mark(folder);
      const preparations = blocksOf(await readFile(join(copy, 'README.md'), 'utf8'), 'sh');
      const readme = await readFile(join(copy, folder, 'README.md'), 'utf8');
      const commands = blocksOf(readme, 'sh');
      const question = commands.pop() ?? '';
      const [expected = ''] = blocksOf(readme, 'json');
      expect(await textOf(join(copy, folder))).toContain(markedWords(folder).prompt);
      const env = { ...environmentOf({ ...target(), baseUrl: proxy.url }), TOLLKEEPER_GRPC: enforcerAddress() };

      const shell = await runScript([...preparations, `cd ${folder}`, ...commands].join('\n'), copy, env);
      try {
        await eventually(async () => {
          const answer = await outputOf(question, join(copy, folder), env);
          const { models } = JSON.parse(answer) as { models: unknown };
          expect({ models }).toEqual(JSON.parse(expected));
        });
      } finally {
        await shell.end();
        // Its programs may still write.
        await rm(join(copy, folder), { recursive: true, force: true, maxRetries: 10 });
      }
    },
  };
}

async function useFreePorts(directory: string): Promise<void> {
  const ports = new Map<string, number>();
  for (const path of await filesIn(directory)) {
    const text = await readFile(path, 'utf8');
    for (const [port] of text.matchAll(PORT)) if (!ports.has(port)) ports.set(port, await freePort());
    const moved = text.replaceAll(PORT, (port) => String(ports.get(port)));
    await writeFile(path, moved);
  }
}

/** Puts the word after this text in the file, in place of an earlier word. */
async function markIn(path: string, text: string, word: string): Promise<void> {
  const before = (await readFile(path, 'utf8')).replaceAll(new RegExp(` ${MARK}[\\w-]*`, 'g'), '');
  await writeFile(path, before.replaceAll(text, `${text} ${word}`));
}

async function textOf(directory: string): Promise<string> {
  const texts = (await filesIn(directory)).map((path) => readFile(path, 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
