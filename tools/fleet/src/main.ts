import { join } from 'node:path';
import { loadConfig } from '@tollkeeper/runtime';
import { OPTIONAL_FOR_IDENTITY } from '@tollkeeper/topology';
import { fleetConfig, passedOn } from './config.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { createTerminal } from './terminal.ts';

/** Restarts dead processes as an orchestrator does, but not so fast that they use up the machine. */
const RESTART_DELAY_MS = 2_000;

const terminal = createTerminal(process.stdout, process.stderr);
const launchedAt = performance.now();
let running = false;
let stopping = false;

try {
  const config = loadConfig(fleetConfig, process.env);
  const dataDirectory = join(config.TOLLKEEPER_DATA_DIR, 'fleet');
  const starting = startFleet({
    dataDirectory,
    mongoMembers: config.FLEET_MONGODB_MEMBERS,
    kafkaReplicationFactor: config.KAFKA_REPLICATION_FACTOR,
    ...(config.PORT !== 0 && { port: config.PORT }),
    otlpPort: config.OTLP_PORT,
    ...(config.MONGODB_URI !== undefined && { mongodbUri: config.MONGODB_URI }),
    ...(config.KAFKA_BROKERS !== undefined && { kafkaBrokers: config.KAFKA_BROKERS }),
    firstOwner: { email: config.FIRST_OWNER_EMAIL, password: config.FIRST_OWNER_PASSWORD },
    allowCidrs: config.TOLLKEEPER_ALLOW_CIDRS,
    identity: Object.fromEntries(OPTIONAL_FOR_IDENTITY.map((name) => [name, config[name]])),
    env: { ...passedOn(process.env), LOG_LEVEL: config.LOG_LEVEL, LOG_PRETTY: String(process.stdout.isTTY === true) },
    onProgress: terminal.progress,
    onLine: terminal.line,
    onUnexpectedExit(replica, reason) {
      if (!running) return;
      terminal.problem(`${reason}. Its last lines say why; it is started again.`);
      setTimeout(() => running && replica.launch(), RESTART_DELAY_MS).unref();
    },
    onMongoLost: (reason) => terminal.problem(`${reason}. Stop the fleet with Ctrl-C and start it again.`),
  });
  process.on('SIGINT', () => stop(starting));
  process.on('SIGTERM', () => stop(starting));
  const fleet = await starting;
  running = true;
  const seconds = (performance.now() - launchedAt) / 1000;
  terminal.ready(fleet, { seconds, dataDirectory, passwordChosen: config.FIRST_OWNER_PASSWORD !== undefined });
} catch (error) {
  end(error);
}

/** A second signal gives up waiting. The services are stopped anyway, as after any end of this process. */
function stop(starting: Promise<Fleet>): void {
  if (stopping) process.exit(1);
  stopping = true;
  running = false;
  terminal.progress('Stopping…');
  starting.then((fleet) => fleet.stop()).then(() => process.exit(0), end);
}

function end(error: unknown): never {
  terminal.failure(error);
  process.exit(1);
}
