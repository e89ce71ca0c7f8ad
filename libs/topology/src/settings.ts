import { addressSetting, callsOf } from './calls.ts';
import type { Port, Secret, SharedSetting } from './entry.ts';
import { type ServiceName, TOPOLOGY, usesLog } from './services.ts';

export type Settings = Record<string, string>;

/** An installation of the services, of which each is told what its entry in the table says. */
export interface Installation {
  mongodbUri: string;
  /** The settings of the event log, such as `KAFKA_BROKERS`. */
  eventLog: Settings;
  /** What is left out keeps the default of the service that takes it. */
  values: Partial<Record<Secret | SharedSetting, string>>;
  /** Where a server is, as `host:port`. */
  hostPort: (service: ServiceName, port: Port) => string;
}

/**
 * All that a service is told of the installation: what it stores in, the log, secrets, and where those are that it
 * calls. Where it listens itself is no part of it.
 */
export function settingsOf(service: ServiceName, installation: Installation): Settings {
  const { mongodb, secrets, settings } = TOPOLOGY[service];
  const { mongodbUri, eventLog, values, hostPort } = installation;
  const told = [...secrets, ...settings].flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[name, value]];
  });
  const addresses = callsOf(service).map(({ to, port }) => {
    const address = hostPort(to, port);
    return [addressSetting({ to, port }), port === 'http' ? `http://${address}` : address];
  });
  return {
    ...(mongodb && { MONGODB_URI: mongodbUri }),
    ...(usesLog(service) && eventLog),
    ...(Object.fromEntries([...told, ...addresses]) as Settings),
  };
}
