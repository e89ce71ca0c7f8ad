import { expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import { AUDIT_ACTIONS } from '@tollkeeper/contracts';
import { pathsIn, readOpenApi } from '../src/released-contracts.ts';

/**
 * Operations without an audit record although they are no GET: programs call them with a key, they only answer, or what
 * follows is recorded.
 */
const UNAUDITED = [
  'askForLitellmCall',
  'askForPortkeyCall',
  'authorizeCall',
  'confirmDeviceLogin',
  'execute',
  'exportLogs',
  'exportMetrics',
  'exportTraces',
  'extendReservation',
  'grantLease',
  'postEvents',
  'previewBudget',
  'releaseReservation',
  'renewLease',
  'reportLitellmCalls',
  'requestRaise',
  'reserve',
  'returnLease',
  'settleLease',
  'settlePortkeyCall',
  'settleReservation',
  'startDeviceLogin',
];
/** Actions of Tollkeeper or its operator, which no operation has. */
const OF_NO_OPERATION = ['channel.disable', 'member.add'];

const { paths } = readOpenApi(pathsIn(resolve(import.meta.dirname, '../../..')).currentOpenApi);
const operations = Object.values(paths ?? {}).flatMap((item) =>
  Object.entries(item as Record<string, { operationId: string; 'x-audit-action'?: string }>),
);
const changing = operations.filter(([method]) => ['post', 'put', 'patch', 'delete'].includes(method));

it('every operation of the public API that changes something has its action in the audit log, but for those of programs', () => {
  const without = changing.filter(([, operation]) => operation['x-audit-action'] === undefined);
  expect(without.map(([, { operationId }]) => operationId).sort()).toEqual(UNAUDITED);
});

it('every action of the audit log is that of an operation, or of Tollkeeper itself', () => {
  const actions = operations.flatMap(([, operation]) => operation['x-audit-action'] ?? []);
  expect([...new Set([...actions, ...OF_NO_OPERATION])].sort()).toEqual([...AUDIT_ACTIONS].sort());
});
