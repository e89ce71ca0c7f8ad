import type { RecordBatch } from '@tollkeeper/event-log';
import type { RuleWatcher } from './rule.watcher.ts';

const MAX_RULES_AGE_MS = 500;

/**
 * Keeps events from being evaluated with rules older than their acceptance. One look at the rules serves all records
 * that were in the partition before it, until the look is {@link MAX_RULES_AGE_MS} old.
 */
export function createRuleRefresh(watcher: RuleWatcher): (batch: RecordBatch) => Promise<void> {
  /** The last look at the rules per partition, with the partition's end offset from before the look. */
  const looks = new Map<number, { endOffset: number; startedAt: number }>();

  return async ({ partition, nextOffset, endOffset }) => {
    const last = looks.get(partition);
    const look = { endOffset, startedAt: performance.now() };
    if (last !== undefined && nextOffset <= last.endOffset && look.startedAt - last.startedAt < MAX_RULES_AGE_MS)
      return;
    await watcher.refresh();
    looks.set(partition, look);
  };
}
