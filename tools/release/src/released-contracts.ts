import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  budgetsRequests,
  dashboardRequests,
  enforcerRequests,
  identityRequests,
  keysRequests,
  leaseRequests,
  limitsRequests,
  LOG_RECORDS,
  notifierRequests,
} from '@tollkeeper/contracts';
import { SERVICES, TOPOLOGY, usesLog } from '@tollkeeper/topology';
import { z } from 'zod';
import type { JsonSchema } from './json-schema.compatibility.ts';
import type { OpenApi } from './openapi.compatibility.ts';

/** Schemas of a topic's records by kind, or of a service's requests by RPC. */
export type SchemasByName = Record<string, JsonSchema>;

/** What a service reads from the log and writes to it, by topic. */
export interface RecordContracts {
  reads: Record<string, SchemasByName>;
  writes: Record<string, SchemasByName>;
}

/** The contracts of a release of one service. */
export interface ReleasedRecords extends RecordContracts {
  /** The first release with these contracts, such as `alerts@0.1.0`. */
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

/** The records that this version of a service reads and writes. */
export function currentRecords(service: string): RecordContracts {
  const { reads, writes } = LOG_USERS[service]!;
  return { reads: schemasOf(reads, 'reads'), writes: schemasOf(writes, 'writes') };
}

function schemasOf(topics: readonly string[], side: 'reads' | 'writes'): Record<string, SchemasByName> {
  const io = side === 'reads' ? 'input' : 'output';
  const ofTopic = (topic: string) =>
    Object.fromEntries(
      Object.entries(LOG_RECORDS[topic]!).map(([kind, contract]) => [kind, z.toJSONSchema(contract[side], { io })]),
    );
  return Object.fromEntries(topics.map((topic) => [topic, ofTopic(topic) as SchemasByName]));
}

/** The gRPC requests of each service. */
const REQUESTS: Record<string, Record<string, z.ZodType>> = {
  budgets: budgetsRequests,
  dashboard: dashboardRequests,
  enforcer: enforcerRequests,
  identity: identityRequests,
  keys: keysRequests,
  leases: leaseRequests,
  limits: limitsRequests,
  notifier: notifierRequests,
};

/**
 * Schemas of the requests that this version accepts, by service. Bytes have no JSON Schema, so they accept any value.
 */
export function currentRequests(): Record<string, SchemasByName> {
  const schemaOf = (request: z.ZodType) => {
    const { required = [], ...schema } = z.toJSONSchema(request, { io: 'input', unrepresentable: 'any' });
    return { ...schema, required: required.filter((name) => !isNeverMissing(schema.properties?.[name])) };
  };
  return Object.fromEntries(
    Object.entries(REQUESTS).map(([service, requests]) => [
      service,
      Object.fromEntries(Object.entries(requests).map(([rpc, request]) => [rpc, schemaOf(request) as JsonSchema])),
    ]),
  );
}

/** In Protocol Buffers, a list, a map or a boolean is never missing: one that is left out is empty or false. */
function isNeverMissing(field: z.core.JSONSchema._JSONSchema | undefined): boolean {
  if (typeof field !== 'object') return false;
  const isMap = field.type === 'object' && field.properties === undefined;
  return isMap || field.type === 'array' || field.type === 'boolean';
}

/** The folder of released contracts and the documents of the working tree, below the workspace's root. */
export function pathsIn(root: string) {
  const released = join(root, 'tools/release/released');
  return {
    records: join(released, 'records'),
    releasedRequests: join(released, 'requests.json'),
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
 * Stores what the services read from the log and write to it, in a file per release, unless an earlier release has the
 * same. An existing file stays, because later changes do not belong to its release. Returns the written files.
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
    return known || existsSync(file) ? [] : writeJson(file, JSON.parse(current));
  });
}

export function readReleasedRequests(root: string): Record<string, SchemasByName> {
  return readJson(pathsIn(root).releasedRequests) as Record<string, SchemasByName>;
}

/** Stores the requests of all services as those of the last release. Returns the written files. */
export function keepRequests(root: string): string[] {
  return writeJson(pathsIn(root).releasedRequests, currentRequests());
}

/** Stores the public API as that of the last release. Returns the written files. */
export function keepOpenApi(root: string): string[] {
  const { currentOpenApi, releasedOpenApi } = pathsIn(root);
  return writeJson(releasedOpenApi, readJson(currentOpenApi));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Writes `content` unless the file has it already. Returns the file if it was written. */
export function writeJson(file: string, content: unknown): string[] {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return [];
  writeFileSync(file, text);
  return [file];
}
