import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The part of an OpenAPI 3.1 document that answers are checked against. */
export interface OpenApiDocument {
  paths?: Record<string, Record<string, unknown>>;
}

/** An answer as received. */
export interface AnswerToCheck {
  method: string;
  /** Path of the request, with or without its query and its `/w/{slug}` prefix. */
  path: string;
  status: number;
  /** The parsed JSON, or undefined if the answer had no body. */
  body?: unknown;
}

interface Responses {
  [status: string]: { content?: Record<string, { schema?: unknown }> };
}

const validators = new WeakMap<OpenApiDocument, Ajv2020>();

/**
 * Throws unless `document` describes the operation, the status (by its number or `default`) and such a body. A
 * described answer without content must have no body.
 */
export function expectMatchesOpenApi(document: OpenApiDocument, answer: AnswerToCheck): void {
  const method = answer.method.toLowerCase();
  const what = `${answer.method} ${answer.path} → ${answer.status}`;
  const template = findTemplate(document, answer.path, method);
  if (template === null) throw new Error(`${what}: the document has no such operation`);
  const operation = document.paths?.[template]?.[method] as { responses?: Responses };
  const status = String(answer.status) in (operation.responses ?? {}) ? String(answer.status) : 'default';
  const response = operation.responses?.[status];
  if (!response) throw new Error(`${what}: the document names neither this status nor a default`);
  const schema = response.content?.['application/json']?.schema;
  if (schema === undefined) {
    if (answer.body !== undefined) throw new Error(`${what}: the document describes no body, but there is one`);
    return;
  }
  const pointer = ['paths', template, method, 'responses', status, 'content', 'application/json', 'schema'];
  const validate = validatorOf(document, pointer);
  if (!validate(answer.body)) {
    const problems = (validate.errors ?? []).map(({ instancePath, message }) => `  ${instancePath || '/'} ${message}`);
    const text = JSON.stringify(answer.body)?.slice(0, 500) ?? 'no body';
    throw new Error(`${what}: the body is not what the document describes\n${problems.join('\n')}\n  in ${text}`);
  }
}

/** The most literal template that matches: `/rules/evaluations` wins over `/rules/{id}`. */
function findTemplate(document: OpenApiDocument, path: string, method: string): string | null {
  const plain = path.replace(/\?.*$/, '').replace(/^\/w\/[^/]+(?=\/)/, '');
  const matching = Object.entries(document.paths ?? {})
    .filter(([template, item]) => method in item && toPattern(template).test(plain))
    .map(([template]) => template);
  const literalLength = (template: string) => template.replace(/\{[^}]*\}/g, '').length;
  return matching.sort((a, b) => literalLength(b) - literalLength(a))[0] ?? null;
}

function toPattern(template: string): RegExp {
  const parts = template.split(/\{[^}]*\}/).map((literal) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+?')}$`);
}

function validatorOf(document: OpenApiDocument, pointer: string[]): ValidateFunction {
  let ajv = validators.get(document);
  if (!ajv) {
    // Not strict, because an OpenAPI document has keywords that are not JSON Schema.
    ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
    addFormats.default(ajv);
    ajv.addSchema(document, 'openapi');
    validators.set(document, ajv);
  }
  const fragment = pointer.map((key) => encodeURIComponent(key.replace(/~/g, '~0').replace(/\//g, '~1'))).join('/');
  const validate = ajv.getSchema(`openapi#/${fragment}`);
  if (!validate) throw new Error(`The document has nothing at ${pointer.join(' → ')}`);
  return validate as ValidateFunction;
}
