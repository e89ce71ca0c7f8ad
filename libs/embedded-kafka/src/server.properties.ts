export interface ServerAddresses {
  port: number;
  controllerPort: number;
  logDirectory: string;
  /** The broker's own listener while clients have to log in. */
  internalPort: number;
  security: KafkaSecurity | undefined;
}

/** Clients connect over TLS and log in with a password, by PLAIN or one of {@link SCRAM_MECHANISMS}. */
export interface KafkaSecurity {
  /** PEM file with the private key (PKCS #8) and the certificate of 127.0.0.1. */
  keystoreFile: string;
  username: string;
  password: string;
}

/** The mechanisms whose credentials the cluster stores. They are added when its storage is formatted. */
export const SCRAM_MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

/**
 * One node that is broker and controller, for a small shared machine: few threads, and a fast restart after `kill -9`.
 */
export function serverProperties({ controllerPort, logDirectory, ...clients }: ServerAddresses): string {
  const listener = clientListeners(clients);
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    listeners: `${listener},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': listener,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT',
    ...secureListener(clients.security),
    'log.dirs': logDirectory,

    'auto.create.topics.enable': false,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 4,

    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    'broker.session.timeout.ms': 1_500,
    'broker.heartbeat.interval.ms': 250,

    'num.network.threads': 2,
    'num.io.threads': 2,
    'background.threads': 2,
    'log.cleaner.dedupe.buffer.size': 4 * 1024 * 1024,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function clientListeners({ port, internalPort, security }: Omit<ServerAddresses, 'controllerPort' | 'logDirectory'>) {
  if (security === undefined) return `PLAINTEXT://127.0.0.1:${port}`;
  return `PLAINTEXT://127.0.0.1:${internalPort},SECURE://127.0.0.1:${port}`;
}

function secureListener(security: KafkaSecurity | undefined): Record<string, string> {
  if (security === undefined) return {};
  const { keystoreFile, username, password } = security;
  const modules = 'org.apache.kafka.common.security';
  const properties: Record<string, string> = {
    'listener.name.secure.ssl.keystore.type': 'PEM',
    'listener.name.secure.ssl.keystore.location': keystoreFile,
    'listener.name.secure.sasl.enabled.mechanisms': ['PLAIN', ...SCRAM_MECHANISMS].join(','),
    'listener.name.secure.plain.sasl.jaas.config': `${modules}.plain.PlainLoginModule required user_${username}="${password}";`,
  };
  for (const mechanism of SCRAM_MECHANISMS) {
    const name = `listener.name.secure.${mechanism.toLowerCase()}.sasl.jaas.config`;
    properties[name] = `${modules}.scram.ScramLoginModule required;`;
  }
  return properties;
}
