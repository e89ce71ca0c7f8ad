import { provenTenantId } from '@tollkeeper/kernel';
import type { RuleBook } from '../domain/rule-book.ts';
import type { RuleStore } from '../domain/rule.ts';
import type { RuleChanges } from '../store/rule.changes.ts';

/** Keeps a book of rules in sync with the store. */
export interface RuleWatcher {
  /** Resolves once the book has every change of rules that was stored before the call. */
  refresh(): Promise<void>;
}

export function createRuleWatcher(deps: {
  book: RuleBook;
  changes: Pick<RuleChanges, 'since'>;
  rules: Pick<RuleStore, 'list'>;
}): RuleWatcher {
  const { book, changes, rules } = deps;
  /** The revision of each workspace's rules in the book. */
  const known = new Map<string, number>();
  let latest: Date | null = null;
  let refreshing = Promise.resolve();

  async function look(): Promise<void> {
    const found = await changes.since(latest);
    for (const { tenantId: id, revision } of found) {
      if (known.get(id) === revision) continue;
      const tenantId = provenTenantId(id);
      book.replace(tenantId, await rules.list(tenantId));
      known.set(id, revision);
    }
    for (const { begunAt } of found) if (latest === null || begunAt > latest) latest = begunAt;
  }

  return {
    refresh() {
      // One look at a time, so that an older result never overwrites a newer one.
      const result = refreshing.then(look);
      refreshing = result.catch(() => undefined);
      return result;
    },
  };
}
