import { addressSetting, callsOf } from './calls.ts';
import type { Port, Secret, SharedSetting } from './entry.ts';
import { type ServiceName, TOPOLOGY, usesLog } from './services.ts';

export type Settings = Record<string, string>;

/** An installation of the services. Each service gets the settings that its entry in the table needs. */
export interface Installation {
  mongodbUri: string;
  /** The settings of the event log, such as `KAFKA_BROKERS`. */
  eventLog: Settings;
  /** Missing values leave the defaults of the services. */
  values: Partial<Record<Secret | SharedSetting, string>>;
  /** The address of a server, as `host:port`. */
  hostPort: (service: ServiceName, port: Port) => string;
}

/**
 * All settings that a service gets from the installation: its database, the log, secrets, and the addresses of services
 * that it calls. Its own ports are not included.
 */
export function settingsOf(service: ServiceName, installation: Installation): Settings {
  const { mongodb, secrets, settings } = TOPOLOGY[service];
  const { mongodbUri, eventLog, values, hostPort } = installation;
  const given = [...secrets, ...settings].flatMap((name) => {
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
    ...(Object.fromEntries([...given, ...addresses]) as Settings),
  };
}
