import type { Port } from './entry.ts';
import { SERVICES, type ServiceName, TOPOLOGY } from './services.ts';

/** One service calling a server of another one. */
export interface ServiceCall {
  from: ServiceName;
  to: ServiceName;
  port: Port;
}

/** Every call between services, that of one caller after that of the other. */
export function allCalls(): ServiceCall[] {
  return SERVICES.flatMap(callsOf);
}

export function callsOf(from: ServiceName): ServiceCall[] {
  const { calls } = TOPOLOGY[from];
  return (Object.keys(calls) as Port[]).flatMap((port) => (calls[port] ?? []).map((to) => ({ from, to, port })));
}

/** The setting by which a caller knows the server: `IDENTITY_GRPC` is `host:port`, `IDENTITY_HTTP` an origin. */
export function addressSetting({ to, port }: Pick<ServiceCall, 'to' | 'port'>): string {
  return `${to}_${port}`.toUpperCase();
}
