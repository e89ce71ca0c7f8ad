import type { AuditTrail } from '@tollkeeper/audit-trail';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { type AddressGuard, createHttpsExchange, createNameResolver } from '@tollkeeper/net';
import type { Loop, MongodbConfig } from '@tollkeeper/runtime';
import { createSecretCipher, type EncryptionKey, type ServiceBase } from '@tollkeeper/service';
import type { Directory } from '../domain/directory.ts';
import type { ExportSettings, ScheduledExportStore } from '../domain/scheduled-exports.ts';
import { BucketFailure, createObjectStore } from './s3.ts';
import { createScheduledExportStore } from './scheduled-exports.store.ts';
import { createScheduledExporter, type ScheduledExporterDeps } from './scheduled-exports.worker.ts';

/** Milliseconds of a request with a part of a file, and of one of a test. */
const UPLOAD_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 15_000;

export interface ScheduledExports {
  store: ScheduledExportStore;
  exporter: Loop;
  /** Writes a small object, and returns its key. Rejects with what is wrong with the bucket. */
  testBucket(tenantId: TenantId, settings: ExportSettings, signal: AbortSignal): Promise<string>;
}

export function createScheduledExports(
  base: ServiceBase<MongodbConfig & { CHANNEL_ENCRYPTION_KEYS: EncryptionKey[] }>,
  deps: {
    trail: AuditTrail;
    directory: Directory;
    guard: AddressGuard;
    textOf: ScheduledExporterDeps['textOf'];
  },
): ScheduledExports {
  const { directory, guard, textOf, trail } = deps;
  const resolve = createNameResolver();
  const cipher = createSecretCipher(base.config.CHANNEL_ENCRYPTION_KEYS);
  const store = createScheduledExportStore({ ...base, cipher, trail });
  const toUpload = createHttpsExchange({ guard, resolve, timeoutMs: UPLOAD_TIMEOUT_MS });
  const toTest = createHttpsExchange({ guard, resolve, timeoutMs: TEST_TIMEOUT_MS });
  return {
    store,
    exporter: createScheduledExporter({ ...base, store, directory, textOf, exchange: toUpload }),
    async testBucket(tenantId, { destination, prefix }, signal) {
      const bucket = createObjectStore({ exchange: toTest, destination, signal, waitsMs: [] });
      const key = `${prefix}${tenantId}/test.txt`;
      try {
        await bucket.put(key, 'text/plain; charset=utf-8', Buffer.from('Tollkeeper can write to this bucket.\n'));
      } catch (error) {
        if (error instanceof BucketFailure) throw new AppError('destination_unreachable', error.message);
        throw error;
      }
      return key;
    },
  };
}
