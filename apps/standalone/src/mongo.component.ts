import { type EmbeddedMongo, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import type { Component } from '@tollkeeper/runtime';
import type { StandaloneConfig } from './config.ts';

/** Keeps the process and its MongoDB together under 400 MB. */
const CACHE_SIZE_MB = 96;

export interface MongoComponent extends Component {
  /** Connection string without a database; valid once started. */
  readonly uri: string;
}

export interface MongoComponentOptions {
  config: StandaloneConfig;
  onProgress: (line: string) => void;
  onUnexpectedExit: (reason: string) => void;
}

/** The MongoDB of `MONGODB_URI` if set, otherwise a managed `mongod` on the data directory. */
export function createMongo({ config, onProgress, onUnexpectedExit }: MongoComponentOptions): MongoComponent {
  let mongod: EmbeddedMongo | undefined;
  return {
    name: 'mongo',
    get uri() {
      const uri = config.MONGODB_URI ?? mongod?.uri;
      if (uri === undefined) throw new Error('mongo has not been started yet');
      return uri;
    },
    async start() {
      if (config.MONGODB_URI !== undefined) return;
      mongod = await startEmbeddedMongo({
        dataDirectory: config.TOLLKEEPER_DATA_DIR,
        cacheSizeMb: CACHE_SIZE_MB,
        frugal: true,
        ...(config.TOLLKEEPER_CACHE_DIR !== undefined && { cacheDirectory: config.TOLLKEEPER_CACHE_DIR }),
        onProgress,
        onUnexpectedExit,
      });
    },
    stop: async () => mongod?.stop(),
  };
}
