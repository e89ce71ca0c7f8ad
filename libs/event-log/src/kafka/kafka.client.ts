import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Logger } from '@tollkeeper/runtime';
import kafkajs, { type ISocketFactoryArgs, type Kafka, type SASLOptions } from 'kafkajs';
import { createLogCreator, KAFKAJS_LOG_LEVEL } from './kafka.logger.ts';

/** How to reach a Kafka cluster. */
export interface KafkaSettings {
  /** `host:port` of one or more brokers. The client finds the other brokers through these. */
  brokers: string[];
  /** Name of this client in the brokers' logs and quotas. */
  clientId: string;
  /** Encrypts connections. `ca` has the certificates (PEM) to trust instead of the system's. */
  tls?: { ca?: string };
  sasl?: SASLOptions;
}

/** One client of the cluster, with its own connections. */
interface KafkaClient {
  kafka: Kafka;
  /**
   * Closes the client's connections and refuses new ones. This also ends the retries of kafkajs, which would otherwise
   * still send after the client was given up.
   */
  close(): void;
}

export type OpenKafkaClient = () => KafkaClient;

const CONNECTION_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 60_000;

/** Milliseconds that a request waits for its answer. A slower broker counts as lost. */
const REQUEST_TIMEOUT_MS = 10_000;

/** About 6 s in all: enough for most restarts of a broker, and callers learn of a longer outage soon. */
const RETRY = { initialRetryTime: 100, multiplier: 2, factor: 0.2, maxRetryTime: 1_000, retries: 8 };

/** Makes clients of the cluster. Their log lines go to `logger`. */
export function createClientFactory(settings: KafkaSettings, logger: Logger): OpenKafkaClient {
  const { brokers, clientId, tls, sasl } = settings;
  return () => {
    const sockets = new Set<Socket>();
    let closed = false;

    function connect({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
      if (closed) throw new Error('this client is closed');
      const address = { host, port, noDelay: true };
      const socket = ssl
        ? connectTls({ ...address, ...(isIP(host) === 0 && { servername: host }), ...ssl }, onConnect)
        : connectTcp(address, onConnect);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    }

    const kafka = new kafkajs.Kafka({
      brokers,
      clientId,
      ...(tls && { ssl: tls.ca === undefined ? {} : { ca: tls.ca } }),
      ...(sasl && { sasl }),
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      retry: RETRY,
      socketFactory: connect,
      logLevel: KAFKAJS_LOG_LEVEL,
      logCreator: createLogCreator(logger, () => closed),
    });
    return {
      kafka,
      close() {
        closed = true;
        // The error is needed: kafkajs does not notice a plain close.
        for (const socket of sockets) socket.destroy(new Error('this client is closed'));
      },
    };
  };
}
