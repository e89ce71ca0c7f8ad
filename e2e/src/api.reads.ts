import { type ApiAnswer, type ApiClient, openApiOf } from './api.client.ts';
import type { Target } from './target.ts';

/** What reads need that the document of the API does not say. */
const QUERIES: Record<string, readonly string[]> = {
  '/api/v1/dashboard/spend/breakdown': ['?by=agent', '?by=model'],
  '/api/v1/audit': ['', '?format=ndjson'],
  // Only for the code of a log-in that waits.
  '/api/v1/auth/device-login': [],
};
const OF_AN_AGENT = ['/api/v1/agents/{agent_id}', '/api/v1/dashboard/top-agents/details?agent_id={agent_id}'];

interface Operation {
  parameters?: { name: string }[];
}

/**
 * The answers to the reads of a workspace that need no id, and to those of its agents. Throws if one is refused. With
 * `span`, such as `from=…&to=…`, those about a time are about that one.
 */
export async function* readEverything(
  target: Target,
  owner: ApiClient,
  slug: string,
  span?: string,
): AsyncGenerator<ApiAnswer & { path: string }> {
  const document = await openApiOf(target);
  const { items } = await owner.expect<{ items: { agent_id: string }[] }>({ path: `/w/${slug}/api/v1/agents` });
  const general = Object.entries(document.paths ?? {})
    .filter(([path, item]) => 'get' in item && !path.includes('{') && !path.endsWith('/details'))
    .flatMap(([path]) => (QUERIES[path] ?? ['']).map((query) => path + query));
  const ofAgents = items.flatMap(({ agent_id }) => OF_AN_AGENT.map((path) => path.replace('{agent_id}', agent_id)));
  for (const path of [...general, ...ofAgents]) {
    const isOfPerson = /^\/api\/v1\/(auth|workspaces|organisations)\b/.test(path);
    const operation = document.paths?.[path.replace(/\?.*/, '')]?.['get'] as Operation | undefined;
    const hasSpan = span !== undefined && operation?.parameters?.some(({ name }) => name === 'from') === true;
    const asked = hasSpan ? `${path}${path.includes('?') ? '&' : '?'}${span}` : path;
    const read = isOfPerson ? asked : `/w/${slug}${asked}`;
    const answer = await owner.call({ path: read });
    if (answer.status !== 200) throw new Error(`GET ${read} answered ${answer.status}: ${answer.text.slice(0, 200)}`);
    yield { ...answer, path: read };
  }
}
