import type { ReportMapping } from '@tollkeeper/contracts';
import { askAlso, type AskedAttributes } from './asked-attributes.ts';
import { type Fact, INHERITED, resource, text } from './fact-sources.ts';
import { ASKED, FACTS } from './facts.ts';

/** What is read of a call: the facts by the names of all senders, and by those that a workspace key maps. */
export interface FactTable {
  readonly facts: typeof FACTS;
  /** The labels that the key maps, by their names. */
  readonly labels: ReadonlyMap<string, Fact<string>>;
  /** The names that decoders keep for them. */
  readonly asked: AskedAttributes;
}

/** The table of a key that maps nothing. */
export const FACT_TABLE: FactTable = { facts: FACTS, labels: new Map(), asked: ASKED };

export function factTableOf({ agent, run, labels }: Pick<ReportMapping, 'agent' | 'run' | 'labels'>): FactTable {
  const names = [agent, run, ...Object.values(labels)].filter((name) => name !== null);
  if (names.length === 0) return FACT_TABLE;
  return {
    facts: { ...FACTS, agent: mapped(agent, FACTS.agent), run: mapped(run, FACTS.run) },
    labels: new Map(Object.entries(labels).map(([label, name]) => [label, mapped(name)])),
    asked: askAlso(ASKED, names),
  };
}

/** The attribute of the record, of the nearest span around it, or of the resource counts before all other names. */
function mapped(name: string | null, others: Fact<string> = { sources: [] }): Fact<string> {
  if (name === null) return others;
  return { sources: [...text(name, INHERITED, resource(name)).sources, ...others.sources] };
}
