import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { matcherLines, matchersOf, readMatchers } from '../../format/matchers.ts';
import { silences as words } from '../../text/silences.ts';
import { ChoiceField, TextAreaField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

const HOUR_MS = 3_600_000;
const TIMES = {
  hour: HOUR_MS,
  hours: 8 * HOUR_MS,
  day: 24 * HOUR_MS,
  week: 168 * HOUR_MS,
} satisfies Record<keyof typeof words.form.times, number>;
type Time = keyof typeof TIMES;
const TIME_OPTIONS = (Object.keys(TIMES) as Time[]).map((time) => [time, words.form.times[time]] as const);

/** What changes when a silence or window does. */
export const SILENCE_READS = [
  'GET /api/v1/alerts/silences',
  'GET /api/v1/alerts/maintenance-windows',
  'GET /api/v1/alerts',
  'GET /api/v1/alerts/{alert_id}',
] as const;

/** Silences alerts that are about the same as the given one, or whatever the person writes. */
export function SilenceDialog({ alert, onClose }: { alert?: Api.Alert; onClose: () => void }) {
  const [matchers, setMatchers] = useState(alert === undefined ? '' : matcherLines(matchersOf(alert)));
  const [time, setTime] = useState<Time>('hour');
  const [reason, setReason] = useState('');
  const create = useChange('POST /api/v1/alerts/silences', SILENCE_READS);
  const read = readMatchers(matchers);

  async function send(): Promise<void> {
    if (read.matchers === undefined) return;
    const ends_at = new Date(Date.now() + TIMES[time]).toISOString();
    await create.mutateAsync({ body: { matchers: read.matchers, ends_at, reason } });
    toast(words.created);
    onClose();
  }

  return (
    <FormDialog title={words.silence} action={words.silenceThis} send={send} onClose={onClose}>
      <p className={ui['hint']}>{words.form.hint}</p>
      <MatchersField value={matchers} onChange={setMatchers} />
      <ChoiceField label={words.form.time} value={time} options={TIME_OPTIONS} onChange={setTime} />
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}

interface TextProps {
  value: string;
  onChange: (value: string) => void;
}

export function MatchersField({ value, onChange }: TextProps) {
  const { bad } = readMatchers(value);
  return (
    <TextAreaField
      label={words.form.matchers}
      hint={words.form.matchersHint}
      problem={bad === undefined ? undefined : words.form.matcherBad(bad)}
      rows={3}
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

export function ReasonField({ value, onChange }: TextProps) {
  return (
    <TextField
      label={words.form.reason}
      hint={words.form.reasonHint}
      required
      maxLength={200}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
