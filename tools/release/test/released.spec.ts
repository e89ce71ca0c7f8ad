import { describe, expect, it } from '@jest/globals';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findBreakingChanges } from '../src/openapi.compatibility.ts';
import { findRecordBreaks, findRequestBreaks } from '../src/records.compatibility.ts';
import {
  currentRecords,
  currentRequests,
  LOG_USERS,
  pathsIn,
  readOpenApi,
  readReleasedRecords,
  readReleasedRequests,
} from '../src/released-contracts.ts';

const root = resolve(import.meta.dirname, '../../..');
const { currentOpenApi, releasedOpenApi } = pathsIn(root);
const released = readReleasedRecords(root);

describe('this version', () => {
  it('keeps the clients of the last release working: the public API only grows', () => {
    expect(findBreakingChanges(readOpenApi(releasedOpenApi), readOpenApi(currentOpenApi))).toEqual([]);
  });

  it('reads what each release wrote, and writes what it reads', () => {
    const current = currentRecords('standalone');
    expect(released.flatMap((release) => findRecordBreaks(release, current))).toEqual([]);
  });

  it('takes over gRPC what callers of the last release send: requests only grow', () => {
    expect(findRequestBreaks(readReleasedRequests(root), currentRequests())).toEqual([]);
  });

  it('knows what each service that uses the log and has a release last released', () => {
    const changelogOf = (service: string) => join(root, 'apps', service, 'CHANGELOG.md');
    for (const service of Object.keys(LOG_USERS).filter((each) => existsSync(changelogOf(each)))) {
      expect(released.map(({ release }) => release)).toContainEqual(expect.stringMatching(`^${service}@`));
    }
  });

  it('reads and writes in each service the topics that the table of services names', () => {
    const TOPICS: Record<string, string> = {
      GatewayEvent: 'gateway.events',
      Notification: 'alerts.notifications',
      Delivery: 'alerts.deliveries',
      // Both kinds of the notifier's records in that topic.
      NotifierRecord: 'alerts.deliveries',
      AuditRecord: 'audit.records',
    };
    const services = readdirSync(join(root, 'apps')).filter((app) => app !== 'standalone');
    const found = services.flatMap((service) => {
      const folder = join(root, 'apps', service, 'src');
      const sources = globSync('**/*.ts', { cwd: folder, exclude: ['**/*.spec.ts'] })
        .map((file) => readFileSync(join(folder, file), 'utf8'))
        .join('\n');
      const topics = (call: string) =>
        Object.entries(TOPICS).flatMap(([record, topic]) => (sources.includes(`${call}${record}(`) ? [topic] : []));
      // The trail encodes records for the service.
      const trail = sources.includes('createAuditTrail(') ? [TOPICS['AuditRecord']!] : [];
      const uses = { reads: topics('decode'), writes: [...topics('encode'), ...trail] };
      return uses.reads.length + uses.writes.length === 0 ? [] : [[service, uses] as const];
    });

    const { standalone, ...others } = LOG_USERS;
    expect(Object.fromEntries(found)).toEqual(others);
    expect(standalone!.reads.toSorted()).toEqual([...new Set(Object.values(TOPICS))].sort());
  });
});
