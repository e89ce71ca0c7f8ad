import { useState } from 'react';
import type { Api } from '../../api/api.ts';
import { silences as words } from '../../text/silences.ts';
import { Button } from '../../ui/button.tsx';
import { At } from '../../ui/figures.tsx';
import { SilenceDialog } from './silence-dialog.tsx';

/** Says what holds messages back, by whom, why and until when; nothing if there is nothing. */
export function MutedBy({ label, by }: { label: string; by: Api.AlertMutedBy | undefined }) {
  if (by === undefined) return null;
  return (
    <>
      {label}{' '}
      {by.until !== null && (
        <>
          {words.until} <At at={by.until} />{' '}
        </>
      )}
      {words.by(by)}
    </>
  );
}

/** Silences alerts that are about the same as this one. */
export function SilenceButton({ alert }: { alert: Api.Alert }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{words.silenceThis}</Button>
      {isOpen && <SilenceDialog alert={alert} onClose={() => setIsOpen(false)} />}
    </>
  );
}
