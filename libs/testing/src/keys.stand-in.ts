import {
  DEFAULT_REPORT_MAPPING,
  type KeyRole,
  keysRequests,
  keysService,
  type KeysServiceDefinition,
  type Labels,
  mintWorkspaceKey,
  type ReportMapping,
  toWireKeyRole,
  toWireReportMapping,
} from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';

type Requests = { [Name in keyof typeof keysRequests]: (typeof keysRequests)[Name]['_output'] };

/** A stand-in for keys that answers from a table: `service` implements the contract, for `createPeers`. */
export function createKeysStandIn() {
  type Key = { keyId: string; tenantId: TenantId; role: KeyRole; labels: Labels; reports: ReportMapping };
  const keys = new Map<string, Key>();
  const state = { during: () => {} };
  const watched = new Set<TenantId>();
  const reports: Requests['keepReport'][] = [];
  let calls = 0;

  const handlers: UnaryHandlers<KeysServiceDefinition, Requests> = {
    async verifyKey({ keySha256 }) {
      calls += 1;
      state.during();
      const key = keys.get(keySha256.toString('hex'));
      if (key === undefined) throw new AppError('not_found', 'This workspace key is not valid.');
      const { tenantId, role, labels, reports: mapping } = key;
      return {
        ...{ tenantId, role: toWireKeyRole(role), labels, watched: watched.has(tenantId) },
        reports: toWireReportMapping(mapping),
      };
    },
    async keepReport(report) {
      reports.push(report);
      return {};
    },
  };

  return {
    service: grpcService(keysService, keysRequests, handlers),
    /** `during` runs while VerifyKey is answered. */
    state,
    /** Somebody waits to see the reports of the workspace. */
    watch: (tenantId: TenantId) => watched.add(tenantId),
    /** The reports that KeepReport was called with, in order. */
    reports,
    /** How often VerifyKey was called. */
    calls: () => calls,
    /** Creates a valid key that pins these labels, and whose reports are read by `mapping`. */
    issue(role: KeyRole = 'developer', labels: Labels = {}, mapping: Partial<ReportMapping> = {}) {
      const { id: keyId, apiKey, sha256 } = mintWorkspaceKey();
      const tenantId = provenTenantId(newId('ws'));
      keys.set(sha256.toString('hex'), {
        keyId,
        tenantId,
        role,
        labels,
        reports: { ...DEFAULT_REPORT_MAPPING, ...mapping },
      });
      return { keyId, apiKey, tenantId, sha256 };
    },
    pin(keyId: string, labels: Labels): void {
      for (const key of keys.values()) if (key.keyId === keyId) key.labels = labels;
    },
    revoke: (sha256: Buffer) => keys.delete(sha256.toString('hex')),
  };
}
