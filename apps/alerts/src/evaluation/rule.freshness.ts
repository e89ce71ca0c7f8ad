import type { RecordBatch } from '@tollkeeper/event-log';
import type { RuleWatcher } from './rule.watcher.ts';

const MAX_RULES_AGE_MS = 500;

/**
 * Keeps events from being evaluated by rules from before their acceptance. One look at the rules serves all that the
 * partition held before it, for as long as a change of rules may take to be seen.
 */
export function createRuleRefresh(watcher: RuleWatcher): (batch: RecordBatch) => Promise<void> {
  /** The last look at the rules of each partition, with the end of the partition that was known when it began. */
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
