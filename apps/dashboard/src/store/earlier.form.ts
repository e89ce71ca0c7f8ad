import type { Component, Logger } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { eventKey, type DashboardEvent } from '../domain/event.ts';
import type { EventReader } from '../domain/event.reader.ts';
import type { RunStartStore, TallyStore } from '../domain/tallies.ts';
import { byNewest, byOldest } from './chunk.store.ts';
import { createEarlierBuckets } from './earlier.buckets.ts';
import { createEarlierEvents } from './earlier.events.ts';
import { createEarlierRuns } from './earlier.runs.ts';
import type { Stores } from './stores.ts';

/** The collections of releases up to 0.1: of events, starts of runs, and roll-ups. Nothing is written to them. */
const COLLECTIONS = ['events', 'runs', 'buckets'];

/** What releases up to 0.1 stored. All of it is read here, and `earlier.migration.ts` moves it. */
export interface EarlierForm {
  /**
   * The stores, and what 0.1 stored beside them. While none of its collections is there, it is asked nothing. That is
   * looked up once: what was not there at the first question does not come later, and what goes is empty.
   */
  beside(stores: Stores): Stores;
  /** Tells operators if some of it is there. */
  notice: Component;
}

export function createEarlierForm(connection: Connection, logger: Logger): EarlierForm {
  const [events, runs, buckets] = [
    createEarlierEvents(connection),
    createEarlierRuns(connection),
    createEarlierBuckets(connection),
  ];

  let known: Promise<boolean> | undefined;
  const isThere = (): Promise<boolean> =>
    (known ??= look(connection).catch((error: unknown) => {
      known = undefined;
      throw error;
    }));

  return {
    beside: ({ recorder, events: reader, tallies, runStarts }) => ({
      recorder: {
        ...recorder,
        async knownIdentities(session, asked) {
          const identities = await recorder.knownIdentities(session, asked);
          if (!(await isThere())) return identities;
          for (const identity of await events.knownIdentities(session, asked)) identities.add(identity);
          return identities;
        },
        async knownRunStarts(session, asked) {
          const starts = await recorder.knownRunStarts(session, asked);
          if (!(await isThere())) return starts;
          for (const [key, time] of await runs.knownRunStarts(session, asked)) {
            starts.set(key, Math.min(time, starts.get(key) ?? Infinity));
          }
          return starts;
        },
      },
      events: readBoth(isThere, events, reader),
      tallies: [...tallies, talliesIfThere(isThere, buckets), talliesIfThere(isThere, events)],
      runStarts: [...runStarts, startsIfThere(isThere, buckets), startsIfThere(isThere, runs)],
    }),
    notice: {
      name: 'look for what 0.1 stored',
      async start() {
        if (!(await isThere())) return;
        logger.info(
          'Part of the database is in the form of release 0.1. It is read as it is, but is larger and slower. To pack it, ' +
            'run `node migrate.js` in this container, or `npm run migrate -w @tollkeeper/dashboard`.',
        );
      },
      async stop() {},
    },
  };
}

async function look(connection: Connection): Promise<boolean> {
  const found = connection.db!.listCollections({ name: { $in: COLLECTIONS } }, { nameOnly: true });
  return (await found.toArray()).length > 0;
}

/**
 * Reads what 0.1 stored first. So an event that is moved meanwhile is in one of both answers or in both, and never in
 * none.
 */
function readBoth(isThere: () => Promise<boolean>, earlier: EventReader, current: EventReader): EventReader {
  async function merged(
    read: (reader: EventReader) => Promise<DashboardEvent[]>,
    order: (a: DashboardEvent, b: DashboardEvent) => number,
    limit: number,
  ): Promise<DashboardEvent[]> {
    if (!(await isThere())) return read(current);
    const found = [...(await read(earlier)), ...(await read(current))];
    const once = new Map(found.map((event) => [eventKey(event), event]));
    return [...once.values()].sort(order).slice(0, limit);
  }
  return {
    listBlocked: (tenantId, type, subject, span, limit, after) =>
      merged((reader) => reader.listBlocked(tenantId, type, subject, span, limit, after), byNewest, limit),
    async findBlocked(...asked) {
      const found = await merged(
        async (reader) => [await reader.findBlocked(...asked)].flatMap((one) => one ?? []),
        byNewest,
        1,
      );
      return found[0] ?? null;
    },
    listRun: (tenantId, type, runId, limit, meter) =>
      merged((reader) => reader.listRun(tenantId, type, runId, limit, meter), byOldest, limit),
    listSettlements: (tenantId, agentId, span, limit, meter) =>
      merged((reader) => reader.listSettlements(tenantId, agentId, span, limit, meter), byNewest, limit),
    hasAgent: async (...asked) =>
      ((await isThere()) && (await earlier.hasAgent(...asked))) || (await current.hasAgent(...asked)),
  };
}

function startsIfThere(isThere: () => Promise<boolean>, store: RunStartStore): RunStartStore {
  return { countRunStarts: async (...asked) => ((await isThere()) ? store.countRunStarts(...asked) : 0) };
}

function talliesIfThere(isThere: () => Promise<boolean>, store: TallyStore): TallyStore {
  return {
    tallySpans: async (...asked) => ((await isThere()) ? store.tallySpans(...asked) : new Map()),
    tallyAgents: async (...asked) => ((await isThere()) ? store.tallyAgents(...asked) : new Map()),
    tallyModels: async (...asked) => ((await isThere()) ? store.tallyModels(...asked) : new Map()),
    async divideSpend(...asked) {
      if (await isThere()) await store.divideSpend(...asked);
    },
  };
}
