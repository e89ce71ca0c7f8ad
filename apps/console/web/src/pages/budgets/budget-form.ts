import type { Api } from '@tollkeeper/client';
import { labelList, readLabels } from '../../format/labels.ts';
import { editableMoney, parseMoney } from '../../format/money.ts';
import type { Dimension, PeriodKind, SaidBudget } from '../../text/budget-sentence.ts';
import { text } from '../../text/index.ts';
import {
  EMPTY_PERIOD,
  PERIOD_FIELDS,
  type PeriodFields,
  periodFieldsOf,
  periodForm,
  wholeProblem,
} from './period-forms.ts';

const words = text.budgets.form;

/** The fields of a budget as typed. */
export interface BudgetForm {
  name: string;
  description: string;
  selector: Record<Dimension, string>;
  /** One per line. */
  labels: string;
  /** Empty for one limit for all calls; `label` for that of `eachLabel`. */
  each: '' | Dimension | 'label';
  eachLabel: string;
  kind: PeriodKind;
  period: PeriodFields;
  limit: string;
  action: Api.Budget['action'];
  grace: string;
  tellAt: string;
  /** Id of a budget; empty for none. */
  overrides: string;
  isActive: boolean;
}

const NO_SELECTOR: BudgetForm['selector'] = { agent: '', plan: '', model: '', provider: '', key: '' };
/** In the order of the form. */
export const DIMENSIONS = Object.keys(NO_SELECTOR) as Dimension[];
const LABEL = 'label:';

export const EMPTY: BudgetForm = {
  name: '',
  description: '',
  selector: NO_SELECTOR,
  labels: '',
  each: '',
  eachLabel: '',
  kind: 'month',
  period: EMPTY_PERIOD,
  limit: '',
  action: 'deny',
  grace: '0',
  tellAt: '',
  overrides: '',
  isActive: true,
};

export function toForm(budget: Api.Budget, zone: string): BudgetForm {
  const { labels, ...selector } = budget.selector;
  return {
    name: budget.name,
    description: budget.description,
    selector: { ...NO_SELECTOR, ...selector },
    labels: labelList(labels).join('\n'),
    ...eachFields(budget.each),
    kind: budget.period.kind,
    period: periodFieldsOf(budget.period, zone),
    limit: editableMoney(budget.limit_micros),
    action: budget.action,
    grace: String(budget.grace_percent),
    tellAt: budget.tell_at?.join(', ') ?? '',
    overrides: budget.overrides ?? '',
    isActive: budget.is_active,
  };
}

function eachFields(each: string | null): Pick<BudgetForm, 'each' | 'eachLabel'> {
  if (each?.startsWith(LABEL) === true) return { each: 'label', eachLabel: each.slice(LABEL.length) };
  return { each: DIMENSIONS.find((dimension) => dimension === each) ?? '', eachLabel: '' };
}

export type BudgetInput = Omit<Api.Budget, 'id' | 'origin' | 'created_at' | 'updated_at'>;
/** What a form has so far: the amount and the period are null until they can be read. */
export type BudgetDraft = Omit<BudgetInput, 'period' | 'limit_micros'> & SaidBudget;

/** Problems with fields, by the names of the API. */
export type Problems = ReadonlyMap<string, string>;

/** The budget of a form, with the problems because of which it cannot be sent. */
export function readForm(form: BudgetForm, zone: string): { draft: BudgetDraft; problems: Problems } {
  const { fields, read } = periodForm(form.kind);
  const periodProblems = fields.map((name) => {
    const { path, problem } = PERIOD_FIELDS[name];
    return [path, problem(form.period[name], zone)] as const;
  });
  const micros = parseMoney(form.limit);
  const graceProblem = wholeProblem(form.grace);
  const { labels = {}, problem: labelsProblem } = readLabels(form.labels);
  const tellAt = form.tellAt.split(/[\s,%]+/).filter((each) => each !== '');
  const found: (readonly [string, string | undefined])[] = [
    ...periodProblems,
    ['limit_micros', micros === null ? text.common.money.bad : undefined],
    ['selector.labels', labelsProblem],
    ['grace_percent', graceProblem],
    ['tell_at', tellAt.some((each) => wholeProblem(each) !== undefined) ? words.problems.tellAt : undefined],
  ];
  const draft: BudgetDraft = {
    name: form.name.trim(),
    description: form.description.trim(),
    selector: {
      ...Object.fromEntries(
        DIMENSIONS.map((dimension) => [dimension, form.selector[dimension].trim()]).filter(([, typed]) => typed !== ''),
      ),
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    each: eachOf(form),
    overrides: form.overrides === '' ? null : form.overrides,
    period: periodProblems.some(([, problem]) => problem !== undefined) ? null : read(form.period, zone),
    limit_micros: micros,
    action: form.action,
    grace_percent: graceProblem === undefined ? Number(form.grace) : 0,
    tell_at: tellAt.length === 0 ? null : tellAt.map(Number),
    is_active: form.isActive,
  };
  const problems = new Map(found.flatMap(([path, problem]) => (problem === undefined ? [] : [[path, problem]])));
  return { draft, problems };
}

/** The problems of these fields do not affect which calls a budget blocks. */
const OTHER_FIELDS = ['name', 'description', 'tell_at'];

/** What a preview needs to know; null until the fields say it. */
export function termsOf(draft: BudgetDraft, problems: Problems): Api.BudgetTerms | null {
  const { selector, each, overrides, period, limit_micros, action, grace_percent } = draft;
  const isUnknown = [...problems.keys()].some((path) => !OTHER_FIELDS.includes(path)) || each === LABEL;
  if (isUnknown || period === null || limit_micros === null) return null;
  return { selector, each, overrides, period, limit_micros, action, grace_percent };
}

function eachOf({ each, eachLabel }: BudgetForm): string | null {
  if (each === '') return null;
  return each === 'label' ? `${LABEL}${eachLabel.trim()}` : each;
}

/** The merge patch that makes `after` of `before`. */
export function patchOf(before: BudgetInput, after: BudgetInput): Api.BudgetPatch {
  const fields = Object.keys(after) as (keyof BudgetInput)[];
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  const { labels, ...selector } = after.selector;
  return {
    ...Object.fromEntries(changed.map((field) => [field, after[field]])),
    ...(changed.includes('selector') && {
      selector: {
        ...removed(before.selector),
        ...selector,
        labels: { ...removed(before.selector.labels), ...labels },
      },
    }),
  };
}

/** Null for each member, which removes it unless the patch has another value for it. */
function removed(members: object = {}): Record<string, null> {
  return Object.fromEntries(Object.keys(members).map((name) => [name, null]));
}
