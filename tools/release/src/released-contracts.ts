import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOG_RECORDS } from '@tollkeeper/contracts';
import { SERVICES, TOPOLOGY, usesLog } from '@tollkeeper/topology';
import { z } from 'zod';
import type { JsonSchema } from './json-schema.compatibility.ts';
import type { OpenApi } from './openapi.compatibility.ts';

/** Schemas of a topic's records by their kind. */
export type TopicSchemas = Record<string, JsonSchema>;

/** What a service reads from the log and what it writes to it, by topic. */
export interface RecordContracts {
  reads: Record<string, TopicSchemas>;
  writes: Record<string, TopicSchemas>;
}

/** The contracts of a release of one service. */
export interface ReleasedRecords extends RecordContracts {
  /** The first release with them, such as `alerts@0.1.0`. */
  release: string;
}

/** The topics of each app that uses the log. */
export const LOG_USERS: Record<string, { reads: readonly string[]; writes: readonly string[] }> = {
  ...Object.fromEntries(
    SERVICES.filter(usesLog).map((service) => {
      const { reads, writes } = TOPOLOGY[service];
      return [service, { reads, writes }];
    }),
  ),
  standalone: { reads: Object.keys(LOG_RECORDS), writes: Object.keys(LOG_RECORDS) },
};

/** What this version of a service reads and writes. */
export function currentRecords(service: string): RecordContracts {
  const { reads, writes } = LOG_USERS[service]!;
  return { reads: schemasOf(reads, 'reads'), writes: schemasOf(writes, 'writes') };
}

function schemasOf(topics: readonly string[], side: 'reads' | 'writes'): Record<string, TopicSchemas> {
  const io = side === 'reads' ? 'input' : 'output';
  const ofTopic = (topic: string) =>
    Object.fromEntries(
      Object.entries(LOG_RECORDS[topic]!).map(([kind, contract]) => [kind, z.toJSONSchema(contract[side], { io })]),
    );
  return Object.fromEntries(topics.map((topic) => [topic, ofTopic(topic) as TopicSchemas]));
}

/** The folder of what is released, and the documents of the working tree, below the root of the workspace. */
export function pathsIn(root: string) {
  const released = join(root, 'tools/release/released');
  return {
    records: join(released, 'records'),
    releasedOpenApi: join(released, 'openapi.json'),
    releasedProto: join(released, 'proto.json'),
    currentOpenApi: join(root, 'docs/openapi.json'),
    proto: join(root, 'proto'),
  };
}

/** The contracts of every release that may still run, or whose records may still be in the log. */
export function readReleasedRecords(root: string): ReleasedRecords[] {
  const { records } = pathsIn(root);
  return globSync('*.json', { cwd: records })
    .sort()
    .map((file) => ({ release: file.replace(/\.json$/, ''), ...(readJson(join(records, file)) as RecordContracts) }));
}

export function readOpenApi(file: string): OpenApi {
  return readJson(file) as OpenApi;
}

/**
 * Keeps the contracts of the services as of their versions: those of the log in a file of the release, unless an
 * earlier one has the same. Returns the files that it wrote.
 */
export function keepRecords(root: string): string[] {
  const { records } = pathsIn(root);
  mkdirSync(records, { recursive: true });
  const released = readReleasedRecords(root);
  return Object.keys(LOG_USERS).flatMap((service) => {
    const { version } = readJson(join(root, 'apps', service, 'package.json')) as { version: string };
    const current = JSON.stringify(currentRecords(service));
    const known = released.some(
      ({ release, reads, writes }) =>
        release.startsWith(`${service}@`) && JSON.stringify({ reads, writes }) === current,
    );
    const file = join(records, `${service}@${version}.json`);
    return known ? [] : writeJson(file, JSON.parse(current));
  });
}

/** Keeps the public API as the last release's. Returns the files that it wrote. */
export function keepOpenApi(root: string): string[] {
  const { currentOpenApi, releasedOpenApi } = pathsIn(root);
  return writeJson(releasedOpenApi, readJson(currentOpenApi));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Writes `content` unless the file says it already. Returns the file when it wrote it. */
export function writeJson(file: string, content: unknown): string[] {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return [];
  writeFileSync(file, text);
  return [file];
}
