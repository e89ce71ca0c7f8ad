import { type ComponentProps, type ReactNode, useId } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { monthName } from '../../format/time.ts';
import { type Dimension, dimensionNoun } from '../../text/budget-sentence.ts';
import { text } from '../../text/index.ts';
import { ChoiceField, TextAreaField, TextField } from '../../ui/field.tsx';
import ui from '../../ui/ui.module.css';
import { type BudgetForm, DIMENSIONS, type Problems } from './budget-form.ts';
import type { Origin } from './budget-reads.ts';
import { PERIOD_FIELDS, PERIOD_KINDS, type PeriodFields, periodForm } from './period-forms.ts';

const words = text.budgets.form;

export interface FieldsProps {
  form: BudgetForm;
  set: (change: Partial<BudgetForm>) => void;
  /** The problems to show. */
  problems: Problems;
  /** The other budgets of the workspace. */
  budgets: readonly Api.Budget[];
}

/** What a budget of each origin can change. */
export const PARTS: Record<Origin, readonly ((props: FieldsProps) => ReactNode)[]> = {
  none: [NameFields, LimitFields, CallFields, EachFields, BeyondFields, ActiveField],
  plan: [NameFields, LimitField, ActiveField],
  workspace: [LimitField],
  agent: [LimitField],
};

/** The names in the API of all fields that can show a problem. */
export const FIELDS = [
  ...['name', 'description', 'limit_micros', 'grace_percent', 'tell_at', 'each', 'overrides', 'selector.labels'],
  ...DIMENSIONS.map((dimension) => `selector.${dimension}`),
  ...Object.values(PERIOD_FIELDS).map(({ path }) => path),
];

function NameFields({ form, set, problems }: FieldsProps) {
  return (
    <>
      <TextField
        label={words.name}
        required
        maxLength={120}
        value={form.name}
        problem={problems.get('name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextField
        label={words.description}
        maxLength={1000}
        value={form.description}
        problem={problems.get('description')}
        onChange={({ target }) => set({ description: target.value })}
      />
    </>
  );
}

function LimitField({ form, set, problems }: FieldsProps) {
  return (
    <TextField
      label={words.limit}
      required
      inputMode="decimal"
      value={form.limit}
      problem={problems.get('limit_micros')}
      onChange={({ target }) => set({ limit: target.value })}
    />
  );
}

/** How much, in which period. */
function LimitFields(props: FieldsProps) {
  const { form, set, problems } = props;
  return (
    <div className={ui['fields']}>
      <LimitField {...props} />
      <ChoiceField
        label={words.period}
        value={form.kind}
        options={PERIOD_KINDS.map((kind) => [kind, words.kinds[kind]] as const)}
        onChange={(kind) => set({ kind })}
      />
      {periodForm(form.kind).fields.map((name) => (
        <PeriodInput
          key={name}
          name={name}
          value={form.period[name]}
          problem={problems.get(PERIOD_FIELDS[name].path)}
          onChange={(value) => set({ period: { ...form.period, [name]: value } })}
        />
      ))}
    </div>
  );
}

const INPUTS: Record<keyof PeriodFields, ComponentProps<'input'> | 'month'> = {
  startMonth: 'month',
  startDay: { inputMode: 'numeric' },
  start: { type: 'datetime-local' },
  end: { type: 'datetime-local' },
  hours: { inputMode: 'decimal' },
};

interface PeriodInputProps {
  name: keyof PeriodFields;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
}

function PeriodInput({ name, onChange, ...field }: PeriodInputProps) {
  const input = INPUTS[name];
  if (input === 'month') {
    return <ChoiceField label={words.fields[name]} options={monthOptions()} onChange={onChange} {...field} />;
  }
  return (
    <TextField label={words.fields[name]} onChange={({ target }) => onChange(target.value)} {...input} {...field} />
  );
}

function monthOptions(): (readonly [string, string])[] {
  return Array.from({ length: 12 }, (_, month) => [String(month + 1), monthName(month)] as const);
}

/** Which calls count. */
function CallFields({ form, set, problems }: FieldsProps) {
  const known = useKnownValues();
  const id = useId();
  return (
    <fieldset className={ui['checks']}>
      <legend>{words.calls}</legend>
      <p className={ui['hint']}>{words.callsHint}</p>
      <div className={ui['stack']}>
        <div className={ui['fields']}>
          {DIMENSIONS.map((dimension) => (
            <div key={dimension}>
              <TextField
                label={words.dimensions[dimension]}
                maxLength={128}
                spellCheck={false}
                autoComplete="off"
                list={`${id}-${dimension}`}
                value={form.selector[dimension]}
                problem={problems.get(`selector.${dimension}`)}
                onChange={({ target }) => set({ selector: { ...form.selector, [dimension]: target.value } })}
              />
              <datalist id={`${id}-${dimension}`}>
                {known[dimension].map(({ value, name }) => (
                  <option key={value} value={value}>
                    {name}
                  </option>
                ))}
              </datalist>
            </div>
          ))}
        </div>
        <TextAreaField
          label={text.labels.title}
          hint={`${text.labels.format} ${words.labelsHint}`}
          problem={problems.get('selector.labels')}
          rows={2}
          spellCheck={false}
          value={form.labels}
          onChange={({ target }) => set({ labels: target.value })}
        />
      </div>
    </fieldset>
  );
}

/** The most agents and models that fields suggest. */
const AGENTS = 1_000;
const MODELS = 20;

interface Known {
  value: string;
  name?: string;
}

/** What the fields suggest. */
function useKnownValues(): Record<Dimension, Known[]> {
  const path = { tenant_id: useWorkspace().id };
  const agents = useRead('GET /api/v1/agents', { query: { limit: AGENTS } });
  const plans = useRead('GET /api/v1/workspaces/{tenant_id}/budgets/plans', { path });
  const keys = useRead('GET /api/v1/management/workspace-keys', {});
  const models = useRead('GET /api/v1/dashboard/spend/breakdown', {
    query: { by: 'model', range: '3m', limit: MODELS },
  });
  return {
    agent: (agents.data?.items ?? []).map(({ agent_id, display_name }) => ({ value: agent_id, name: display_name })),
    plan: (plans.data?.items ?? []).map(({ plan_key, display_name }) => ({ value: plan_key, name: display_name })),
    model: (models.data?.groups ?? []).flatMap(({ key }) => (key === null ? [] : [{ value: key }])),
    provider: [],
    key: (keys.data?.items ?? []).map(({ id, name }) => ({ value: id, name })),
  };
}

/** Whether each value of something has the limit for itself, and instead of which other budget. */
function EachFields({ form, set, problems, budgets }: FieldsProps) {
  const split = budgets.filter(({ each }) => each !== null);
  return (
    <div className={ui['fields']}>
      <ChoiceField
        label={words.each}
        value={form.each}
        options={[
          ['', words.eaches.all],
          ...DIMENSIONS.map((dimension) => [dimension, words.eaches.of(dimensionNoun(dimension))] as const),
          ['label', words.eaches.label],
        ]}
        problem={form.each === 'label' ? undefined : problems.get('each')}
        onChange={(each) => set({ each })}
      />
      {form.each === 'label' && (
        <TextField
          label={words.eachLabel}
          hint={words.eachLabelHint}
          maxLength={32}
          spellCheck={false}
          value={form.eachLabel}
          problem={problems.get('each')}
          onChange={({ target }) => set({ eachLabel: target.value })}
        />
      )}
      {(split.length > 0 || form.overrides !== '') && (
        <ChoiceField
          label={words.overrides}
          hint={words.overridesHint}
          value={form.overrides}
          options={[['', words.overridesNone], ...split.map(({ id, name }) => [id, name] as const)]}
          problem={problems.get('overrides')}
          onChange={(overrides) => set({ overrides })}
        />
      )}
    </div>
  );
}

const ACTIONS = Object.keys(words.actions) as BudgetForm['action'][];

/** What happens beyond the limit, and on the way to it. */
function BeyondFields({ form, set, problems }: FieldsProps) {
  return (
    <div className={ui['fields']}>
      <ChoiceField
        label={words.action}
        value={form.action}
        options={ACTIONS.map((action) => [action, words.actions[action]] as const)}
        onChange={(action) => set({ action })}
      />
      {form.action === 'deny' && (
        <TextField
          label={words.grace}
          hint={words.graceHint}
          inputMode="numeric"
          value={form.grace}
          problem={problems.get('grace_percent')}
          onChange={({ target }) => set({ grace: target.value })}
        />
      )}
      <TextField
        label={words.tellAt}
        hint={words.tellAtHint}
        value={form.tellAt}
        problem={problems.get('tell_at')}
        onChange={({ target }) => set({ tellAt: target.value })}
      />
    </div>
  );
}

function ActiveField({ form, set }: FieldsProps) {
  return (
    <label className={ui['check']}>
      <input type="checkbox" checked={form.isActive} onChange={({ target }) => set({ isActive: target.checked })} />
      {words.active}
    </label>
  );
}
