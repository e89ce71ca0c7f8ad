import type { TenantId } from '@tollkeeper/kernel';
import type { ClientSession, Connection, mongo } from 'mongoose';
import { GRAINS, type Grain } from '../../domain/grain.ts';
import type { ReadPlan } from '../../domain/read-plan.ts';
import type { ReadMeter } from '../../domain/reads.ts';
import { PERIOD_OF, rowKindOf, slotsOf, type Level, type WorkspaceSlot } from '../../domain/rollup.ts';
import type { NameStore } from './name.store.ts';
import { readWorkspace, type PackedRow } from './rollup.codec.ts';
import { findRollups, type RollupCollection } from './rollup.collection.ts';
import { bytesOf, workspaceKey, type RollupDocument } from './rollup.document.ts';
import { createReadRows, type Piece, type RowsOf } from './rollup.rows.ts';

/**
 * Reads the roll-ups of a plan. Rows are read on one snapshot, so no transaction is seen in part, and no roll-up is
 * seen while its rows are divided.
 */
export interface RollupReader {
  /** The rows of one agent or of all. */
  readAgents(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    meter: ReadMeter,
    each: (row: PackedRow, piece: Piece) => void,
  ): Promise<void>;
  /** The rows of plans or of labels, and the workspace's slots of the same time. */
  readGroups(
    tenantId: TenantId,
    plan: ReadPlan,
    groups: Groups,
    meter: ReadMeter,
    each: (row: PackedRow, piece: Piece) => void,
    eachOfWorkspace?: (slot: WorkspaceSlot, span: number) => void,
  ): Promise<void>;
  readWorkspaces(tenantId: TenantId, plan: ReadPlan, each: (slot: WorkspaceSlot, span: number) => void): Promise<void>;
}

/** The rows of all plans, or of one label or one of its values. */
export type Groups = { kind: 'plans'; of?: undefined } | { kind: 'labels'; of: RowsOf };

export function createRollupReader(
  connection: Connection,
  rollups: RollupCollection,
  names: Pick<NameStore, 'models'>,
): RollupReader {
  const readRows = createReadRows(rollups, names);
  const onSnapshot = (read: (session: ClientSession) => Promise<void>): Promise<void> =>
    connection.getClient().withSession({ snapshot: true }, read);

  return {
    readAgents: (tenantId, plan, agentId, meter, each) =>
      onSnapshot(async (session) => {
        for (const kind of ['agents', 'days'] as const) {
          const grains = GRAINS.filter((grain) => rowKindOf(grain) === kind);
          const of = agentId === undefined ? undefined : { name: agentId };
          await readRows(session, kind, piecesOf(tenantId, plan, 'rows', grains), of, meter, each);
        }
      }),
    readGroups(tenantId, plan, { kind, of }, meter, each, eachOfWorkspace) {
      const ofWorkspace = piecesOf(tenantId, plan, 'workspace');
      const pieces = piecesOf(tenantId, plan, 'rows');
      const eachWorkspace =
        eachOfWorkspace &&
        (({ _id, workspace }: RollupDocument) => eachSlot(workspace, ofWorkspace.get(_id)!, eachOfWorkspace));
      return onSnapshot((session) => readRows(session, kind, pieces, of, meter, each, eachWorkspace));
    },
    async readWorkspaces(tenantId, plan, each) {
      const pieces = piecesOf(tenantId, plan, 'workspace');
      const found = await findRollups(rollups, undefined, [...pieces.keys()], { workspace: 1 });
      for (const [key, { workspace }] of found) eachSlot(workspace, pieces.get(key)!, each);
    },
  };
}

function eachSlot(
  workspace: mongo.Binary | undefined,
  { start, spans }: Piece,
  each: (slot: WorkspaceSlot, span: number) => void,
): void {
  for (const [slot, held] of readWorkspace(bytesOf(workspace), start)) {
    const span = spans.get(slot);
    if (span !== undefined) each(held, span);
  }
}

/** By the key of the workspace's document. */
function piecesOf(
  tenantId: TenantId,
  plan: ReadPlan,
  level: Level,
  grains: readonly Grain[] = GRAINS,
): Map<string, Piece> {
  const pieces = new Map<string, Piece>();
  for (const grain of grains) {
    for (const [time, span] of plan.buckets[grain]) {
      const { start, first, count } = slotsOf(grain, level, time);
      const rollup = { tenantId, period: PERIOD_OF[grain], start };
      const key = workspaceKey(rollup);
      let piece = pieces.get(key);
      if (piece === undefined) pieces.set(key, (piece = { ...rollup, spans: new Map() }));
      for (const slot of range(first, first + count)) piece.spans.set(slot, span);
    }
  }
  return pieces;
}

/** From `from` up to but not including `to`. */
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
