import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useTrackedLabels, useWorkspace } from '../../app/account.tsx';
import { divisionsOf, wordsOf } from '../../charts/division.ts';
import { exports as fileWords } from '../../text/exports.ts';
import { scheduledExports as words } from '../../text/scheduled-exports.ts';
import { Checks } from '../../ui/checks.tsx';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';

export const SCHEDULED_READS = ['GET /api/v1/scheduled-exports'] as const;

type Form = Omit<Api.ExportSettings, 'updated_at'> & { secret_access_key: string };

const EMPTY: Form = {
  ...{ endpoint: '', region: 'us-east-1', bucket: '', prefix: '', access_key_id: '', secret_access_key: '' },
  ...{ format: 'csv', group_by: null, time_of_day: '08:00', schedules: ['daily', 'monthly'] },
};
const FORMATS = ['csv', 'ndjson', 'focus'] as const;
const KINDS = ['daily', 'monthly'] as const;
const DAY = 'day';

interface DialogProps {
  settings: Api.ExportSettings | null;
  onClose: () => void;
}

export function ScheduledExportsDialog({ settings, onClose }: DialogProps) {
  const { timezone } = useWorkspace();
  const divisions = divisionsOf(useTrackedLabels());
  const [form, setForm] = useState<Form>({ ...EMPTY, ...settings });
  const save = useChange('PUT /api/v1/scheduled-exports', SCHEDULED_READS);
  const set = (change: Partial<Form>) => setForm({ ...form, ...change });
  const isFocus = form.format === 'focus';
  const groups = divisions.map((by) => [by, fileWords.rows.group(wordsOf(by).name)] as const);

  async function send(): Promise<void> {
    const { secret_access_key: secret, group_by: by, ...others } = form;
    const { endpoint, region, bucket, prefix, access_key_id, format, time_of_day, schedules } = others;
    await save.mutateAsync({
      body: {
        ...{ endpoint, region, bucket, prefix, access_key_id, format, time_of_day, schedules },
        group_by: isFocus ? null : by,
        ...(secret !== '' && { secret_access_key: secret }),
      },
    });
    toast(words.saved);
    onClose();
  }

  const text = (field: 'endpoint' | 'region' | 'bucket' | 'prefix' | 'access_key_id' | 'time_of_day') => ({
    required: field !== 'prefix',
    value: form[field],
    onChange: ({ target }: { target: { value: string } }) => set({ [field]: target.value }),
  });
  return (
    <FormDialog title={words.title} send={send} onClose={onClose} side>
      <TextField
        label={words.form.endpoint}
        hint={words.form.endpointHint}
        type="url"
        maxLength={255}
        {...text('endpoint')}
      />
      <TextField label={words.form.region} hint={words.form.regionHint} maxLength={64} {...text('region')} />
      <TextField label={words.form.bucket} maxLength={63} {...text('bucket')} />
      <TextField label={words.form.prefix} hint={words.form.prefixHint} maxLength={256} {...text('prefix')} />
      <TextField label={words.form.accessKey} maxLength={128} autoComplete="off" {...text('access_key_id')} />
      <TextField
        label={words.form.secret}
        hint={settings === null ? words.form.secretHint : words.form.secretKept}
        type="password"
        autoComplete="new-password"
        maxLength={256}
        required={settings === null}
        value={form.secret_access_key}
        onChange={({ target }) => set({ secret_access_key: target.value })}
      />
      <ChoiceField
        label={fileWords.format.label}
        value={form.format}
        options={FORMATS.map((each) => [each, fileWords.format[each]] as const)}
        onChange={(format) => set({ format })}
      />
      <ChoiceField
        label={fileWords.rows.label}
        hint={isFocus ? fileWords.rowsOfFocus : undefined}
        disabled={isFocus}
        value={form.group_by ?? DAY}
        options={[[DAY, fileWords.rows.day] as const, ...groups, ['call', fileWords.rows.call] as const]}
        onChange={(rows) => set({ group_by: rows === DAY ? null : rows })}
      />
      <TextField label={words.form.time} hint={words.form.timeHint(timezone)} type="time" {...text('time_of_day')} />
      <Checks
        label={words.form.schedules}
        options={KINDS.map((kind) => [kind, words.form[kind]] as const)}
        chosen={form.schedules}
        onChange={(schedules) => set({ schedules: [...schedules] })}
      />
    </FormDialog>
  );
}
