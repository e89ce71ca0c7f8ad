/** What the list of agents is searched for. */
export interface AgentsSearch {
  find?: string;
}

export function parseAgentsSearch({ find }: Record<string, unknown>): AgentsSearch {
  return typeof find === 'string' ? { find } : {};
}
