import { useEffect, useRef } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { channels as words } from '../../text/channels.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

/** Sends a test notification, and shows the receiver's answer. */
export function TestDialog({
  channel,
  name,
  onClose,
}: {
  channel: Api.AlertChannel;
  name: string;
  onClose: () => void;
}) {
  const test = useChange('POST /api/v1/alerts/channels/{channel_id}/test', []);
  const send = () => test.mutate({ path: { channel_id: channel.id } });
  const sent = useRef(false);
  useEffect(() => {
    if (sent.current) return;
    sent.current = true;
    send();
  });
  return (
    <Dialog title={`${words.test}: ${name}`} onClose={onClose}>
      <div role="status" className={ui['stack']}>
        {test.isPending && (
          <>
            <p>{words.testing}</p>
            <Skeleton height={40} />
          </>
        )}
        {test.data !== undefined && <Answer answer={test.data} />}
      </div>
      <Problem error={test.error} />
      <DialogActions>
        <Button onClick={send} disabled={test.isPending}>
          {words.test}
        </Button>
        <Button onClick={onClose}>{text.common.action.close}</Button>
      </DialogActions>
    </Dialog>
  );
}

function Answer({ answer: { ResponseStatus, ResponseSnippet } }: { answer: Api.AlertChannelTestResult }) {
  const good = ResponseStatus >= 200 && ResponseStatus < 300;
  return (
    <>
      <p>
        <strong>{good ? words.tested(ResponseStatus) : words.testedBad(ResponseStatus)}</strong>
      </p>
      <section>
        <h3>{words.answer}</h3>
        <code className={ui['code']}>{ResponseSnippet === '' ? words.noAnswer : ResponseSnippet}</code>
      </section>
    </>
  );
}
