import { useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { exports as fileWords } from '../../text/exports.ts';
import { scheduledExports as words } from '../../text/scheduled-exports.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Problem } from '../../ui/confirm.tsx';
import { Facts } from '../../ui/facts.tsx';
import { At } from '../../ui/figures.tsx';
import { Loaded, Note } from '../../ui/parts.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { SCHEDULED_READS, ScheduledExportsDialog } from './scheduled-exports-dialog.tsx';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Files of spend that are sent to a bucket on a schedule. For owners. */
export function ScheduledExports() {
  const read = useRead('GET /api/v1/scheduled-exports', {}, { live: true });
  const [editing, setEditing] = useState(false);
  return (
    <Loaded query={read} height={120}>
      {({ settings, schedules }) => (
        <>
          {settings === null ? (
            <Note title={words.none.title}>
              {words.none.text}
              <Button onClick={() => setEditing(true)}>{words.none.action}</Button>
            </Note>
          ) : (
            <Current settings={settings} schedules={schedules} onEdit={() => setEditing(true)} />
          )}
          {editing && <ScheduledExportsDialog settings={settings} onClose={() => setEditing(false)} />}
        </>
      )}
    </Loaded>
  );
}

interface CurrentProps {
  settings: Api.ExportSettings;
  schedules: readonly Api.ExportSchedule[];
  onEdit: () => void;
}

function Current({ settings, schedules, onEdit }: CurrentProps) {
  const [removing, setRemoving] = useState(false);
  const test = useChange('POST /api/v1/scheduled-exports/test', []);
  const remove = useChange('DELETE /api/v1/scheduled-exports', SCHEDULED_READS);
  return (
    <div className={ui['stack']}>
      <Facts
        facts={[
          [words.bucket, words.at(settings.bucket, new URL(settings.endpoint).host)],
          [words.file, fileWords.format[settings.format]],
          ...schedules.map((schedule) => [words.kind[schedule.kind], <Progress schedule={schedule} />] as const),
        ]}
      />
      {schedules.length === 0 && <p className={ui['hint']}>{words.paused}</p>}
      <Problem error={test.error} />
      <div className={ui['actions']}>
        <Button onClick={onEdit}>{words.edit}</Button>
        <Button
          busy={test.isPending && words.testing}
          onClick={() => test.mutate({}, { onSuccess: ({ object_key: key }) => toast(words.tested(key)) })}
        >
          {words.test}
        </Button>
        {schedules.map(({ kind }) => (
          <SendNow key={kind} kind={kind} />
        ))}
        <Button onClick={() => setRemoving(true)}>{words.remove}</Button>
      </div>
      {removing && (
        <Confirm
          title={words.removeTitle}
          action={words.remove}
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            await remove.mutateAsync({});
            toast(words.removed);
          }}
        >
          {words.removeText}
        </Confirm>
      )}
    </div>
  );
}

/** When the next file is sent, and how the last one went. */
function Progress({ schedule: { next_at: nextAt, problem, results } }: { schedule: Api.ExportSchedule }) {
  const { timezone: zone } = useWorkspace();
  const last = results[0];
  return (
    <>
      <div>
        {words.next}: <At at={nextAt} zone={zone} />
      </div>
      <div>
        {words.last}:{' '}
        {last === undefined ? (
          words.noneYet
        ) : (
          <>
            {last.period} {last.bytes === null ? words.givenUp : words.delivered(sizeOf(last.bytes))},{' '}
            <At at={last.at} zone={zone} />
          </>
        )}
      </div>
      {[problem, last?.problem].map((why) => why && <p className={ui['problem']}>{why}</p>)}
    </>
  );
}

function SendNow({ kind }: Pick<Api.ExportSchedule, 'kind'>) {
  const send = useChange('POST /api/v1/scheduled-exports/send', SCHEDULED_READS);
  return (
    <>
      <Button
        busy={send.isPending && words.send[kind]}
        onClick={() => send.mutate({ body: { kind } }, { onSuccess: () => toast(words.sending) })}
      >
        {words.send[kind]}
      </Button>
      <Problem error={send.error} />
    </>
  );
}

function sizeOf(bytes: number): string {
  let [size, unit] = [bytes, 0];
  for (; size >= 1_000 && unit < UNITS.length - 1; unit += 1) size /= 1_000;
  return `${Number(size.toPrecision(3))} ${UNITS[unit]}`;
}
