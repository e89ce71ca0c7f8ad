import { NEEDED_ROLES } from '@tollkeeper/kernel';
import {
  findMismatches,
  type JsonSchema,
  type Mismatch,
  resolve,
  STRICT,
  TOLERANT,
} from './json-schema.compatibility.ts';

/** The compared parts of an OpenAPI 3.1 document. */
export interface OpenApi {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, JsonSchema> };
}

interface Operation {
  operationId?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Record<string, { content?: Content }>;
  'x-required-role'?: string;
}

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  schema: JsonSchema;
}

type Content = Record<string, { schema: JsonSchema }>;

const CLIENT = 'a client of the last release';
const SERVER = 'this version';

/**
 * The changes in `current` that break a client for `released`, one sentence each, starting with the operation. Clients
 * must ignore unknown fields and values in answers, as the API requires. Everything that they may send must still be
 * accepted, and every field that they may read must still come.
 */
export function findBreakingChanges(released: OpenApi, current: OpenApi): string[] {
  function compareOperations(before: Operation, after: Operation): string[] {
    return [
      ...compareAccess(before, after),
      ...compareParameters(before.parameters ?? [], after.parameters ?? []),
      ...compareBodies(before, after),
      ...compareAnswers(before, after),
    ];
  }

  function compareParameters(before: Parameter[], after: Parameter[]): string[] {
    const nameOf = (parameter: Parameter) => `${parameter.in} parameter ${parameter.name}`;
    const find = (list: Parameter[], { in: place, name }: Parameter) =>
      list.find((other) => other.in === place && other.name === name);
    const gone = before.filter((parameter) => find(after, parameter) === undefined);
    const required = after.filter((parameter) => parameter.required && find(before, parameter)?.required !== true);
    const narrowed = before.flatMap((parameter) => {
      const now = find(after, parameter);
      return now === undefined ? [] : compareSent(nameOf(parameter), parameter.schema, now.schema);
    });
    return [
      ...gone.map((parameter) => `${nameOf(parameter)} is no longer taken`),
      ...required.map((parameter) => `${nameOf(parameter)} is required now`),
      ...narrowed,
    ];
  }

  function compareBodies({ requestBody: before }: Operation, { requestBody: after }: Operation): string[] {
    if (after === undefined) return before === undefined ? [] : ['the request body is no longer taken'];
    if (after.required && before?.required !== true) return ['the request body is required now'];
    return Object.entries(before?.content ?? {}).flatMap(([type, { schema }]) => {
      const now = after.content[type];
      if (now === undefined) return [`a request body of ${type} is no longer taken`];
      return compareSent('request body', schema, now.schema);
    });
  }

  function compareAnswers(before: Operation, after: Operation): string[] {
    return Object.entries(before.responses ?? {}).flatMap(([status, { content = {} }]) => {
      const now = after.responses?.[status];
      if (now === undefined) return [`the answer ${status} is gone`];
      return Object.entries(content).flatMap(([type, { schema }]) => {
        const nowSchema = now.content?.[type]?.schema;
        if (nowSchema === undefined) return [`the answer ${status} no longer comes as ${type}`];
        return compareAnswered(`answer ${status}`, schema, nowSchema);
      });
    });
  }

  function compareSent(place: string, before: JsonSchema, after: JsonSchema): string[] {
    const parties = { writer: { name: CLIENT, document: released }, reader: { name: SERVER, document: current } };
    const defaults = compareDefaults(resolve(before, released), resolve(after, current));
    return [...findMismatches(before, after, parties, STRICT).map((found) => sentence(place, found)), ...defaults];
  }

  function compareAnswered(place: string, before: JsonSchema, after: JsonSchema): string[] {
    const [client, server] = [
      { name: CLIENT, document: released },
      { name: SERVER, document: current },
    ];
    const unreadable = findMismatches(after, before, { writer: server, reader: client }, TOLERANT);
    // Clients cannot rely on a field that was optional, but may use it.
    const knowing = { ...TOLERANT, unknownFields: true, requiredFields: false };
    const lost = findMismatches(before, after, { writer: client, reader: server }, knowing)
      .filter(({ kind, path }) => kind === 'unknown' && !unreadable.some((other) => other.path === path))
      .map((found) => ({ ...found, message: 'no longer comes' }));
    return [...unreadable, ...lost].map((found) => sentence(place, found));
  }

  return Object.entries(released.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, before]) => {
      const after = current.paths?.[path]?.[method];
      const problems = after === undefined ? ['the operation is gone'] : compareOperations(before, after);
      return problems.map((problem) => `${method.toUpperCase()} ${path}: ${problem}`);
    }),
  );
}

function compareAccess(before: Operation, after: Operation): string[] {
  const found: string[] = [];
  if (before.operationId !== after.operationId) {
    found.push(`operationId ${before.operationId} became ${after.operationId}, which renames it in generated clients`);
  }
  const now = (after.security ?? []).map((scheme) => JSON.stringify(scheme));
  const was = before.security ?? [];
  const closed =
    was.length === 0 ? now.length > 0 : now.length > 0 && !was.some((one) => now.includes(JSON.stringify(one)));
  if (closed) found.push(`it takes ${now.join(' or ')} now, and was open to ${JSON.stringify(was)}`);
  const [roleBefore, roleNow] = [before['x-required-role'], after['x-required-role']];
  if (rankOf(roleNow) > rankOf(roleBefore)) {
    found.push(`it needs the role ${roleNow} now, ${roleBefore ?? 'none'} was enough`);
  }
  return found;
}

/** The higher, the fewer people have the role; 0 without one. */
function rankOf(role: string | undefined): number {
  return NEEDED_ROLES.findIndex((known) => known === role) + 1;
}

/** A default is the value for clients that omit the field. */
function compareDefaults(before: JsonSchema, after: JsonSchema, path = ''): string[] {
  const found: string[] = [];
  if (before.default !== undefined && JSON.stringify(before.default) !== JSON.stringify(after.default)) {
    const [was, now] = [before.default, after.default ?? 'none'].map((value) => JSON.stringify(value));
    found.push(`${path === '' ? 'it' : path}: its default ${was} became ${now}`);
  }
  for (const [name, field] of Object.entries(before.properties ?? {})) {
    const now = after.properties?.[name];
    if (now !== undefined) found.push(...compareDefaults(field, now, path === '' ? name : `${path}.${name}`));
  }
  return found;
}

function sentence(place: string, { path, message }: Mismatch): string {
  return `${place}${path === '' ? '' : ` ${path}`}: ${message}`;
}
