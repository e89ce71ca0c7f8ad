import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { matcherLines, readMatchers } from '../../format/matchers.ts';
import { silences as words, WEEKDAYS } from '../../text/silences.ts';
import { Checks } from '../../ui/checks.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { Zones } from '../../ui/zones.tsx';
import { MatchersField, ReasonField, SILENCE_READS } from './silence-dialog.tsx';

type Times = Pick<Api.MaintenanceWindow, 'name' | 'weekdays' | 'start' | 'end' | 'time_zone' | 'reason'>;

/** Creates a maintenance window, or edits one. */
export function WindowDialog({ window, onClose }: { window: Api.MaintenanceWindow | null; onClose: () => void }) {
  const { timezone } = useWorkspace();
  const empty: Times = { name: '', weekdays: [], start: '22:00', end: '06:00', time_zone: timezone, reason: '' };
  const [form, setForm] = useState<Times>(window ?? empty);
  const [matchers, setMatchers] = useState(matcherLines(window?.matchers ?? []));
  const [tried, setTried] = useState(false);
  const create = useChange('POST /api/v1/alerts/maintenance-windows', SILENCE_READS);
  const edit = useChange('PATCH /api/v1/alerts/maintenance-windows/{window_id}', SILENCE_READS);
  const set = (change: Partial<Times>) => setForm({ ...form, ...change });
  const read = readMatchers(matchers);

  async function send(): Promise<void> {
    setTried(true);
    if (read.matchers === undefined || form.weekdays.length === 0) return;
    const { name, weekdays, start, end, time_zone, reason } = form;
    const body = { name, weekdays, start, end, time_zone, reason, matchers: read.matchers };
    if (window === null) await create.mutateAsync({ body });
    else await edit.mutateAsync({ path: { window_id: window.id }, body });
    toast(words.windowSaved(name));
    onClose();
  }

  const text = (field: 'name' | 'start' | 'end' | 'time_zone') => ({
    required: true,
    value: form[field],
    onChange: ({ target }: { target: { value: string } }) => set({ [field]: target.value }),
  });
  return (
    <FormDialog title={window === null ? words.addWindow : words.editWindow(window.name)} send={send} onClose={onClose}>
      <p className={ui['hint']}>{words.form.hint}</p>
      <TextField label={words.form.name} maxLength={120} {...text('name')} />
      <Checks
        label={words.form.weekdays}
        {...(tried && form.weekdays.length === 0 && { hint: words.form.weekdaysBad })}
        options={WEEKDAYS}
        chosen={form.weekdays}
        onChange={(weekdays) => set({ weekdays: [...weekdays] })}
      />
      <TextField label={words.form.start} type="time" {...text('start')} />
      <TextField label={words.form.end} hint={words.form.endHint} type="time" {...text('end')} />
      <TextField label={words.form.zone} list={Zones.id} maxLength={64} {...text('time_zone')} />
      <Zones />
      <MatchersField value={matchers} onChange={setMatchers} />
      <ReasonField value={form.reason} onChange={(reason) => set({ reason })} />
    </FormDialog>
  );
}
