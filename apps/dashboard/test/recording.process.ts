import { provenTenantId } from '@tollkeeper/kernel';
import { connectMongo, createOffsetStore, OffsetConflict, withTransaction } from '@tollkeeper/mongo';
import { createLogger } from '@tollkeeper/runtime';
import { BUDGET_BLOCKED, SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { recordEvents } from '../src/domain/record-events.ts';
import { createStores } from '../src/store/stores.ts';

export const TENANTS = ['ws_a', 'ws_b', 'ws_c'].map(provenTenantId);
export const START = Date.parse('2026-11-20T00:00:00.000Z');
const PLACE = { topic: 'crashes', partition: 0 };
export const CENTURY_SECONDS = 2_000_000_000;

/** Event number `index` of the log. Every ninth is a repeat, every seventh is a day late. */
export function eventAt(index: number): DashboardEvent {
  if (index % 9 === 8) return eventAt(index - 5);
  const tenantId = TENANTS[index % TENANTS.length]!;
  const time = START + index * 20_000 - (index % 7 === 6 ? 86_400_000 : 0);
  const ids = { run_id: `run-${index % 50}`, agent_id: `agent-${index % 4}` };
  const base = { tenantId, source: 'gw', eventId: `e${index}`, time };
  if (index % 10 === 4) return { ...base, type: BUDGET_BLOCKED, data: ids };
  return { ...base, type: SPEND_SETTLED, data: { ...ids, settlement_id: `s${index}`, amount_micros: index } };
}

/**
 * Records the events up to number `count` in small batches, which causes constant folds, and stores its position as a
 * consumer does. Beside other such processes, and after one of them was killed, it continues at that position.
 */
async function record(uri: string, database: string, count: number): Promise<void> {
  const mongo = connectMongo({ uri, database, logger: createLogger({ service: 'recording', level: 'silent' }) });
  const offsets = createOffsetStore(mongo.connection, 'group');
  const { recorder } = createStores(mongo.connection, CENTURY_SECONDS);
  await mongo.start();
  for (;;) {
    try {
      const from = await offsets.position(PLACE.topic, PLACE.partition);
      const first = from ?? 0;
      if (first >= count) return await mongo.stop();
      const to = Math.min(count, first + 1 + (first % 3));
      const batch = Array.from({ length: to - first }, (_, index) => eventAt(first + index));
      await withTransaction(mongo.connection, async (session) => {
        await offsets.advance(session, { ...PLACE, from, to });
        await recordEvents(recorder, session, batch);
      });
      process.send?.(to);
    } catch (error) {
      if (!(error instanceof OffsetConflict)) process.send?.(String(error));
    }
  }
}

const [uri, database, count] = process.argv.slice(2);
if (import.meta.main && uri && database) await record(uri, database, Number(count));
