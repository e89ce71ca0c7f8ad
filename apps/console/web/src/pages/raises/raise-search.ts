/** The token of the link to a request. */
export interface RaiseSearch {
  token?: string;
}

export function parseRaiseSearch({ token }: Record<string, unknown>): RaiseSearch {
  return typeof token === 'string' && token.length <= 256 ? { token } : {};
}
