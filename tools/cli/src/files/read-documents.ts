import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Document, isAlias, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { z } from 'zod';
import { EXIT, Failure } from '../failure.ts';
import { KINDS } from '../kinds/kinds.ts';
import { documentSchema, type WorkspaceDocument } from './document.ts';
import { entriesOf, keyOf } from './plan.ts';
import { readText } from './read-text.ts';

export interface SourcedDocument {
  document: WorkspaceDocument;
  /** Where it is, for messages. */
  source: string;
  /** Files of secrets are relative to this folder. */
  folder: string;
}

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_FILES = 1_000;
const MAX_PROBLEMS = 20;

/** The documents of files, of the YAML files of folders, and of standard input (`-`). Throws for any mistake. */
export async function readDocuments(paths: readonly string[]): Promise<SourcedDocument[]> {
  const files = (await Promise.all(paths.map(filesOf))).flat();
  if (files.length > MAX_FILES)
    throw wrong(`--file: these are ${files.length} files; at most ${MAX_FILES} are read at once.`);
  const documents: SourcedDocument[] = [];
  for (const file of files) documents.push(...parseFile(file, await textOf(file)));
  if (documents.length === 0)
    throw wrong(`--file: ${paths.join(', ')} has no document. Start with \`tollkeeper export\`.`);
  requireOneEach(documents);
  return documents;
}

async function filesOf(path: string): Promise<string[]> {
  if (path === '-') return [path];
  const found = await stat(path).catch(() => null);
  if (found === null) throw wrong(`--file: ${path} does not exist.`);
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /\.ya?ml$/.test(name));
  return names.toSorted().map((name) => join(path, name));
}

async function textOf(path: string): Promise<string> {
  const source = path === '-' ? process.stdin : createReadStream(path);
  const text = await readText(source, MAX_BYTES).catch(() => {
    throw wrong(`--file: ${path} cannot be read. Check its rights.`);
  });
  if (text === null) throw wrong(`--file: ${path} has more than ${MAX_BYTES} bytes. Split it by workspaces.`);
  return text;
}

function parseFile(path: string, text: string): SourcedDocument[] {
  const lineCounter = new LineCounter();
  const source = path === '-' ? 'standard input' : path;
  const at = (offset: number) => `${source}:${lineCounter.linePos(offset).line}`;
  const parsed = parseAllDocuments(text, { lineCounter });
  const documents = Array.isArray(parsed) ? parsed : [];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw wrong(`${at(problem.pos[0])}: ${problem.message.split('\n')[0]}`);
    if (document.contents === null) return [];
    const where = at(document.range[0]);
    return [{ document: check(document, at), source: where, folder: path === '-' ? '.' : dirname(resolve(path)) }];
  });
}

function check(document: Document.Parsed, at: (offset: number) => string): WorkspaceDocument {
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) throw wrong(`${at(node.range?.[0] ?? 0)}: aliases are not read. Write the value out.`);
    },
  });
  const result = documentSchema.safeParse(document.toJS());
  if (result.success) return requireUniqueKeys(result.data, at(document.range[0]));
  const problems = result.error.issues.slice(0, MAX_PROBLEMS).map((issue) => problemOf(document, issue, at));
  throw wrong(`The file is not valid. \`tollkeeper schema\` has all fields.\n${problems.join('\n')}`);
}

function problemOf(document: Document.Parsed, issue: z.core.$ZodIssue, at: (offset: number) => string): string {
  // A missing field has no place of its own.
  let path = issue.path as (string | number)[];
  let offset: number | undefined;
  while (offset === undefined && path.length > 0) {
    const node = document.getIn(path, true) as { range?: [number, number, number] } | undefined;
    offset = node?.range?.[0];
    path = path.slice(0, -1);
  }
  const field = issue.path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
  return `  ${at(offset ?? document.range[0])}: ${field === '' ? '' : `${field}: `}${issue.message}`;
}

function requireUniqueKeys(document: WorkspaceDocument, where: string): WorkspaceDocument {
  for (const kind of KINDS) {
    const seen = new Set<string>();
    for (const entry of entriesOf(document, kind) ?? []) {
      const key = keyOf(kind, entry);
      if (seen.has(key))
        throw wrong(`${where}: ${kind.section}: ${kind.keyField} "${key}" is there twice. Remove one.`);
      seen.add(key);
    }
  }
  return document;
}

function requireOneEach(documents: readonly SourcedDocument[]): void {
  const sources = new Map<string, string>();
  for (const { document, source } of documents) {
    const { slug } = document.workspace;
    const other = sources.get(slug);
    if (other !== undefined)
      throw wrong(`${source}: workspace.slug: ${slug} is also in ${other}. Merge the two documents.`);
    sources.set(slug, source);
  }
}

function wrong(message: string): Failure {
  return new Failure(message, EXIT.usage);
}
