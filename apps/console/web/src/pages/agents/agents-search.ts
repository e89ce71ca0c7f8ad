/** The search text of the list of agents. */
export interface AgentsSearch {
  find?: string;
}

export function parseAgentsSearch({ find }: Record<string, unknown>): AgentsSearch {
  return typeof find === 'string' ? { find } : {};
}
