/** The sender whose settings are shown, so that a shared link shows the same. */
export interface ConnectSearch {
  sender?: string;
}

export function parseConnectSearch({ sender }: Record<string, unknown>): ConnectSearch {
  return typeof sender === 'string' ? { sender } : {};
}
