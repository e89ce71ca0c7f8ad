import { useState } from 'react';
import { useChange } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { pauses as words, PAUSED_THINGS, type PausedThing } from '../../text/pauses.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

const HOUR_MS = 3_600_000;
/** How long a pause lasts. Without a time, it lasts as long as possible. */
const TIMES = {
  hour: HOUR_MS,
  hours: 8 * HOUR_MS,
  day: 24 * HOUR_MS,
  week: 168 * HOUR_MS,
  open: undefined,
} satisfies Record<keyof typeof words.form.times, number | undefined>;
type Time = keyof typeof TIMES;
const TIME_OPTIONS = (Object.keys(TIMES) as Time[]).map((time) => [time, words.form.times[time]] as const);
const THING_OPTIONS = PAUSED_THINGS.map((thing) => [thing, words.form.things[thing]] as const);

/** What changes when something is paused or resumed. */
export const PAUSE_READS = ['GET /api/v1/pauses'] as const;

interface Paused {
  thing: PausedThing;
  /** The name of the label. */
  label: string;
  value: string;
}

const NOTHING: Paused = { thing: 'agent', label: '', value: '' };

interface PauseDialogProps {
  agent?: { id: string; name: string } | undefined;
  /** What the form proposes. */
  proposed?: Partial<Paused> | undefined;
  onClose: () => void;
}

/** Pauses an agent, if one is given; else whatever the person chooses. */
export function PauseDialog({ agent, proposed, onClose }: PauseDialogProps) {
  const [paused, setPaused] = useState<Paused>({ ...NOTHING, ...proposed, ...(agent && { value: agent.id }) });
  const [time, setTime] = useState<Time>('hour');
  const [reason, setReason] = useState('');
  const pause = useChange('POST /api/v1/pauses', PAUSE_READS);

  async function send(): Promise<void> {
    const { thing, label, value } = paused;
    const lasts = TIMES[time];
    const until = lasts === undefined ? {} : { until: new Date(Date.now() + lasts).toISOString() };
    const scope = { agent: 'agent', key: 'key', label: `label:${label}` }[thing];
    const made = await pause.mutateAsync({ body: { scope, value, reason, ...until } });
    toast(words.paused(agent?.name ?? words.nameOf(made)));
    onClose();
  }

  const title = agent === undefined ? words.pauseAny : words.pauseTitle(agent.name);
  return (
    <FormDialog title={title} action={words.pause} send={send} onClose={onClose}>
      <p className={ui['hint']}>{words.form.hint}</p>
      {agent === undefined && <Chosen paused={paused} change={(part) => setPaused({ ...paused, ...part })} />}
      <ChoiceField label={words.form.time} value={time} options={TIME_OPTIONS} onChange={setTime} />
      <TextField
        label={words.form.reason}
        hint={words.form.reasonHint}
        required
        maxLength={200}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  );
}

function Chosen({ paused, change }: { paused: Paused; change: (part: Partial<Paused>) => void }) {
  const { thing, label, value } = paused;
  return (
    <>
      <ChoiceField
        label={words.form.what}
        value={thing}
        options={THING_OPTIONS}
        onChange={(next) => change({ thing: next, value: '' })}
      />
      {thing === 'label' && (
        <TextField
          label={words.form.label}
          required
          maxLength={32}
          value={label}
          onChange={({ target }) => change({ label: target.value })}
        />
      )}
      <TextField
        label={words.form.value[thing]}
        required
        maxLength={128}
        value={value}
        onChange={({ target }) => change({ value: target.value })}
      />
    </>
  );
}

/** Pauses whatever the person chooses, for owners and admins. */
export function PauseAnyButton({ proposed, opens = false }: { proposed?: Partial<Paused>; opens?: boolean }) {
  const [isOpen, setIsOpen] = useState(opens);
  if (!useMay('admin')) return null;
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{words.pauseAny}</Button>
      {isOpen && <PauseDialog proposed={proposed} onClose={() => setIsOpen(false)} />}
    </>
  );
}
