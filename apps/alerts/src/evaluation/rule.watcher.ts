import { provenTenantId } from '@tollkeeper/kernel';
import type { RuleBook } from '../domain/rule-book.ts';
import type { RuleStore } from '../domain/rule.ts';
import type { RuleChanges } from '../store/rule.changes.ts';

/** Keeps a book of rules as the store has them. */
export interface RuleWatcher {
  /** Resolves once the book holds every change of rules that was stored before the call. */
  refresh(): Promise<void>;
}

export function createRuleWatcher(deps: {
  book: RuleBook;
  changes: Pick<RuleChanges, 'since'>;
  rules: Pick<RuleStore, 'list'>;
}): RuleWatcher {
  const { book, changes, rules } = deps;
  let known = -1;
  let refreshing = Promise.resolve();

  async function look(): Promise<void> {
    const { sequence, tenantIds } = await changes.since(known);
    for (const id of tenantIds) {
      const tenantId = provenTenantId(id);
      book.replace(tenantId, await rules.list(tenantId));
    }
    known = sequence;
  }

  return {
    refresh() {
      // One look after the other, so that an older one never overwrites what a newer one found.
      const result = refreshing.then(look);
      refreshing = result.catch(() => undefined);
      return result;
    },
  };
}
