import type { Port } from './entry.ts';
import { SERVICES, type ServiceName, TOPOLOGY } from './services.ts';

/** A call from one service to a server of another one. */
export interface ServiceCall {
  from: ServiceName;
  to: ServiceName;
  port: Port;
}

/** Every call between services, grouped by caller. */
export function allCalls(): ServiceCall[] {
  return SERVICES.flatMap(callsOf);
}

export function callsOf(from: ServiceName): ServiceCall[] {
  const { calls } = TOPOLOGY[from];
  return (Object.keys(calls) as Port[]).flatMap((port) => (calls[port] ?? []).map((to) => ({ from, to, port })));
}

/** The caller's setting for the server: `IDENTITY_GRPC` is `host:port`, `IDENTITY_HTTP` an origin. */
export function addressSetting({ to, port }: Pick<ServiceCall, 'to' | 'port'>): string {
  return `${to}_${port}`.toUpperCase();
}
