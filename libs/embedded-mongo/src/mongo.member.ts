import { type MongodOptions, type MongodProcess, startMongod, stopOrphan } from './mongod.process.ts';

/** One `mongod` of the managed replica set. Restarts keep its port and data. */
export interface MongoMember {
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  /** Changes at each restart. */
  readonly pid: number;
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>;
  /** Starts it again, after a clean stop if it runs. Resolves once it listens. */
  restart(): Promise<void>;
}

export interface ManagedMember extends MongoMember {
  readonly port: number;
  /** Resolves if the process ends unexpectedly, to a sentence that says how. */
  readonly lost: Promise<string>;
  stop(): Promise<void>;
}

export async function startMember(options: MongodOptions, onProgress: (line: string) => void): Promise<ManagedMember> {
  const lost = Promise.withResolvers<string>();
  let asked = false;
  let mongod: MongodProcess;

  async function start(): Promise<void> {
    const started = await startMongod(options);
    mongod = started;
    asked = false;
    void started.exited.then((reason) => asked || started !== mongod || lost.resolve(reason));
  }
  async function stop(): Promise<void> {
    asked = true;
    await mongod.stop();
  }

  await stopOrphan(options.dbPath, onProgress);
  await start();
  return {
    host: `127.0.0.1:${options.port}`,
    port: options.port,
    lost: lost.promise,
    get pid() {
      return mongod.pid;
    },
    async kill() {
      asked = true;
      mongod.kill();
      await mongod.exited;
    },
    async restart() {
      await stop();
      await start();
    },
    stop,
  };
}
