import { useId, useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { channels } from '../../text/channels.ts';
import { EVENT_TYPES, eventTypeLabel } from '../../text/events.ts';
import { text } from '../../text/index.ts';
import { rules } from '../../text/rules.ts';
import { ruleLine } from '../../text/rules.ts';
import { Checks } from '../../ui/checks.tsx';
import { ChoiceField, SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { SEVERITIES } from '../alerts/alerts-search.ts';
import { EMPTY, ofAgent, patchOf, PERCENTS, problemsOf, toForm, toRule } from './rule-form.ts';
import { KINDS, RULE_KINDS, type RuleForm } from './rule-kinds.ts';
import { RoutesField } from './rule-routes.tsx';

const words = rules.form;
const READS = ['GET /api/v1/alerts/rules'] as const;

/** Creates a rule, or edits one. A sentence at the end describes the whole rule. */
export function RuleDialog({ rule, onClose }: { rule: Api.AlertRule | null; onClose: () => void }) {
  const { id } = useWorkspace();
  const [form, setForm] = useState<RuleForm>(rule === null ? EMPTY : toForm(rule));
  const [tried, setTried] = useState(false);
  const create = useChange('POST /api/v1/alerts/rules', READS);
  const edit = useChange('PATCH /api/v1/alerts/rules/{rule_id}', READS);
  const set = (change: Partial<RuleForm>) => setForm({ ...form, ...change });
  const problems = problemsOf(form);
  const shown = tried ? problems : {};
  const input = toRule(form, id);
  const kind = RULE_KINDS[form.kind];

  async function send(): Promise<void> {
    setTried(true);
    if (Object.keys(problems).length > 0) return;
    if (rule === null) await create.mutateAsync({ body: input });
    else await edit.mutateAsync({ path: { rule_id: rule.id }, body: patchOf(rule, input) });
    toast(rules.saved(form.name));
    onClose();
  }

  return (
    <FormDialog title={rule === null ? rules.create : rules.edit(rule.name)} send={send} onClose={onClose}>
      <TextField
        label={words.name}
        required
        maxLength={120}
        value={form.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <ChoiceField
        label={words.kind}
        value={form.kind}
        options={KINDS.map((each) => [each, words.kinds[each]] as const)}
        onChange={(next) => set({ kind: next })}
      />
      {kind.eventTypes === null && <EventFields form={form} set={set} />}
      <ThresholdFields {...{ form, set, shown }} />
      {kind.fixed === undefined && (
        <>
          <AgentField value={form.agentId} onChange={(agentId) => set(ofAgent(agentId))} />
          <LabelsField {...{ form, set, shown }} />
        </>
      )}
      <ChoiceField
        label={words.severity}
        value={form.severity}
        options={SEVERITIES.map((each) => [each, text.alerts.severity[each]] as const)}
        onChange={(severity) => set({ severity })}
      />
      {kind.fixed === undefined && <TimingFields {...{ form, set, shown }} />}
      <ChannelFields {...{ form, set, shown }} />
      <TextField
        label={words.description}
        maxLength={1000}
        value={form.description}
        onChange={({ target }) => set({ description: target.value })}
      />
      {Object.keys(problems).length === 0 && (
        <p>
          {words.says}: <strong>{ruleLine(input as Api.AlertRule)}</strong>
        </p>
      )}
    </FormDialog>
  );
}

interface EventFieldsProps {
  form: RuleForm;
  set: (change: Partial<RuleForm>) => void;
}

function EventFields({ form, set }: EventFieldsProps) {
  const types = [...new Set([...EVENT_TYPES, ...form.eventTypes])];
  const onlyThresholds = form.eventTypes.length === 1 && form.eventTypes[0] === 'budget.threshold_reached';
  return (
    <>
      <Checks
        label={words.events}
        hint={words.eventsHint}
        options={types.map((type) => [type, eventTypeLabel(type)] as const)}
        chosen={form.eventTypes}
        onChange={(eventTypes) => set({ eventTypes })}
      />
      {onlyThresholds && (
        <Checks
          label={words.percents}
          hint={words.eventsHint}
          options={PERCENTS.map((percent) => [percent, `${percent}%`] as const)}
          chosen={form.percents}
          onChange={(percents) => set({ percents })}
        />
      )}
    </>
  );
}

interface CheckedFieldProps extends EventFieldsProps {
  shown: ReturnType<typeof problemsOf>;
}

function ThresholdFields({ form, set, shown }: CheckedFieldProps) {
  const { thresholds, window } = RULE_KINDS[form.kind];
  return (
    <>
      {thresholds.map(({ field, ...input }) => (
        <TextField
          key={field}
          {...input}
          value={form[field]}
          problem={shown[field]}
          onChange={({ target }) => set({ [field]: target.value })}
        />
      ))}
      {'label' in window && (
        <TextField
          label={`${window.label} (${words.minutes})`}
          inputMode="decimal"
          value={form.windowMinutes}
          problem={shown.windowMinutes}
          onChange={({ target }) => set({ windowMinutes: target.value })}
        />
      )}
    </>
  );
}

function TimingFields({ form, set, shown }: CheckedFieldProps) {
  return (
    <>
      <TextField
        label={words.pauseAfter}
        hint={words.pauseHint}
        inputMode="decimal"
        value={form.pauseMinutes}
        problem={shown.pauseMinutes}
        onChange={({ target }) => set({ pauseMinutes: target.value })}
      />
      <TextField
        label={words.group}
        hint={words.groupHint}
        inputMode="decimal"
        value={form.groupMinutes}
        problem={shown.groupMinutes}
        onChange={({ target }) => set({ groupMinutes: target.value })}
      />
    </>
  );
}

function LabelsField({ form, set, shown }: CheckedFieldProps) {
  return (
    <TextAreaField
      label={text.labels.title}
      hint={`${text.labels.format} ${words.labelsHint}`}
      problem={shown.labels}
      rows={2}
      spellCheck={false}
      value={form.labels}
      onChange={({ target }) => set({ labels: target.value })}
    />
  );
}

function AgentField({ value, onChange }: { value: string; onChange: (agentId: string) => void }) {
  const { data } = useRead('GET /api/v1/agents', { query: { limit: 1000 } });
  const known = data?.items.some(({ agent_id }) => agent_id === value) === true;
  const list = useId();
  // Too many to choose from, so the id is typed.
  if (typeof data?.next_cursor === 'string') {
    return (
      <>
        <TextField
          label={words.scope}
          hint={words.scopeHint}
          maxLength={128}
          pattern="[A-Za-z0-9._:\-]+"
          list={list}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
        <datalist id={list}>
          {data.items.map(({ agent_id, display_name }) => (
            <option key={agent_id} value={agent_id}>
              {display_name}
            </option>
          ))}
        </datalist>
      </>
    );
  }
  return (
    <SelectField label={words.scope} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{words.anyAgent}</option>
      {value !== '' && !known && <option value={value}>{value}</option>}
      {data?.items.map(({ agent_id, display_name }) => (
        <option key={agent_id} value={agent_id}>
          {display_name}
        </option>
      ))}
    </SelectField>
  );
}

function ChannelFields({ form, set, shown }: CheckedFieldProps) {
  const { data } = useRead('GET /api/v1/alerts/channels', {});
  if (data === undefined || data.items.length === 0) return <p className={ui['hint']}>{words.noChannels}</p>;
  const options = data.items.map((channel) => [channel.id, channel.name ?? channels.unnamed] as const);
  return (
    <>
      <Checks
        label={words.channels}
        options={options}
        chosen={form.channelIds}
        onChange={(channelIds) => set({ channelIds })}
      />
      <RoutesField
        routes={form.routes}
        channels={options}
        problem={shown.routes}
        onChange={(routes) => set({ routes })}
      />
    </>
  );
}
