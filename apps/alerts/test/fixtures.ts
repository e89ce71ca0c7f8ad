import { provenTenantId } from '@tollkeeper/kernel';
import type { CountableEvent } from '../src/domain/event.ts';
import type { SavedWindow } from '../src/domain/partition.evaluator.ts';
import type { Rule } from '../src/domain/rule.ts';
import { type EntryForm, isWhole, joinParts, type SavedSum } from '../src/domain/sliding-sum.ts';
import { FORMS } from '../src/domain/sum.condition.ts';

const tenantId = provenTenantId('ws_1');

/** An enabled rule that counts every event of its workspace, but for what is given. */
export function ruleOf(given: Partial<Rule> = {}): Rule {
  const owner = given.tenantId ?? tenantId;
  return {
    ...{ id: 'rule_1', tenantId: owner, name: 'A rule', description: '', enabled: true, severity: 'high' },
    ...{ scopeType: 'workspace', scopeId: owner, condition: { kind: 'event_count_gte', threshold: 1 } },
    ...{ windowSeconds: 60, eventTypes: [], percents: [], cooldownSeconds: 0, channelIds: [], lastFiredAt: null },
    ...{ createdAt: new Date(0), updatedAt: new Date(0), revision: 1, effectiveAt: new Date(0) },
    ...given,
  };
}

/** An event that is received at its time, but for what is given. */
export function eventAt(time: number, given: Partial<CountableEvent> = {}): CountableEvent {
  return {
    ...{ tenantId, id: `e${time}`, type: 'tool.failed', agentId: undefined },
    ...{ time, receivedAt: time, settledMicros: 0, percent: undefined, identity: time },
    ...given,
  };
}

/** What a store has of a sum that is saved again. */
export function keptSum(form: EntryForm, before: SavedSum | undefined, saved: SavedSum): SavedSum {
  if (isWhole(saved, form)) return structuredClone(saved);
  if (before === undefined) throw new Error('A part was saved of a sum that is not stored.');
  return { ...joinParts(form, [before.entries, saved.entries], saved.size), sampleIds: saved.sampleIds };
}

/** What a store has of a window that is saved again. */
export function keptWindow(before: SavedWindow | undefined, saved: SavedWindow): SavedWindow {
  const { condition } = structuredClone(saved);
  if (condition.kind === 'first_occurrence') return { ...saved, condition };
  const ofKind = before?.condition.kind === condition.kind ? before.condition : undefined;
  return { ...saved, condition: { ...condition, sum: keptSum(FORMS[condition.kind], ofKind?.sum, condition.sum) } };
}
