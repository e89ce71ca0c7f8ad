import { Agent, request } from 'node:https';

const REQUEST_TIMEOUT_MS = 60_000;
/** Owner of the applied fields. */
const FIELD_MANAGER = 'tollkeeper-cluster';

/** Any object of the API. Code that knows the kind reads further fields. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; uid?: string; generation?: number; labels?: Record<string, string> };
}

/** The API server refused; the message is the server's. */
class KubernetesError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'KubernetesError';
    this.status = status;
  }
}

interface Applied<T> {
  object: T;
  /** The server's warnings: deprecated versions, pods that a policy would refuse, and the like. */
  warnings: string[];
}

export interface KubernetesApi {
  /** Server-side apply with strict validation: an unknown or duplicate field is refused, not dropped. */
  apply<T extends KubernetesObject>(manifest: T): Promise<Applied<T>>;
  /**
   * Lists objects of a kind by its plural, such as `apps/v1` and `deployments`, in one namespace or in all. Throws
   * `KubernetesError`.
   */
  list<T>(apiVersion: string, resource: string, namespace?: string): Promise<T[]>;
  get<T>(apiVersion: string, resource: string, name: string, namespace?: string): Promise<T>;
  /** A call with a JSON body to any path. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Merges `change` into the object at a path (RFC 7396). */
  merge(path: string, change: unknown): Promise<void>;
  close(): void;
}

export interface ApiAddress {
  url: string;
  /** PEM of the CA of its certificate. */
  ca: string;
  token: string;
}

interface Answer {
  status: number;
  warnings: string[];
  text: string;
}

export function createKubernetesApi({ url, ca, token }: ApiAddress): KubernetesApi {
  const agent = new Agent({ ca, keepAlive: true });

  function send(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': contentType }) };
    const call = request(new URL(path, url), { method, agent, headers, timeout: REQUEST_TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          warnings: warningsOf(response.headers['warning']),
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    call.on('timeout', () => call.destroy(new Error(`${method} ${path} got no answer from the API server`)));
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return parse<T>(await send(method, path, body));
  }

  /** The path of the collection for objects of this kind. */
  async function collectionOf({ apiVersion, kind, metadata }: KubernetesObject): Promise<string> {
    const { resources } = await call<{ resources: { name: string; kind: string; namespaced: boolean }[] }>(
      'GET',
      groupPath(apiVersion),
    );
    const resource = resources.find((candidate) => candidate.kind === kind && !candidate.name.includes('/'));
    if (resource === undefined) throw new KubernetesError(404, `The API server knows no ${kind} in ${apiVersion}`);
    return collectionPath(
      apiVersion,
      resource.name,
      resource.namespaced ? (metadata.namespace ?? 'default') : undefined,
    );
  }

  return {
    call,
    async apply<T extends KubernetesObject>(manifest: T) {
      const query = `fieldManager=${FIELD_MANAGER}&fieldValidation=Strict&force=true`;
      const path = `${await collectionOf(manifest)}/${manifest.metadata.name}?${query}`;
      const answer = await send('PATCH', path, manifest, 'application/apply-patch+yaml');
      return { object: parse<T>(answer), warnings: answer.warnings };
    },
    async list<T>(apiVersion: string, resource: string, namespace?: string) {
      const { items } = await call<{ items: T[] }>('GET', collectionPath(apiVersion, resource, namespace));
      return items;
    },
    get: (apiVersion, resource, name, namespace) =>
      call('GET', `${collectionPath(apiVersion, resource, namespace)}/${name}`),
    async merge(path, change) {
      parse(await send('PATCH', path, change, 'application/merge-patch+json'));
    },
    close: () => agent.destroy(),
  };
}

function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function collectionPath(apiVersion: string, resource: string, namespace?: string): string {
  return `${groupPath(apiVersion)}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${resource}`;
}

function parse<T>({ status, text }: Answer): T {
  if (status >= 200 && status < 300) return JSON.parse(text) as T;
  let message = text;
  try {
    ({ message } = JSON.parse(text) as { message: string });
  } catch {
    // A proxy or the server itself answers some errors in plain text.
  }
  throw new KubernetesError(status, message);
}

/** Formatted as `299 - "text"` (RFC 9111), separated by commas; quotes in the text are escaped. */
function warningsOf(header: string | string[] | undefined): string[] {
  const text = [header ?? []].flat().join(', ');
  return [...text.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, warning = '']) => warning.replaceAll('\\"', '"'));
}
