import { type ReactNode, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { Problem } from './confirm.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import ui from './ui.module.css';

export interface FormDialogProps {
  title: ReactNode;
  /** What the button says that sends the form. */
  action?: string;
  /** Sends what is filled in, and closes the dialog. It stays open, and says why, when this fails. */
  send: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
  /** It can't be closed while it is sent: what comes back is to be seen this once. */
  waits?: boolean;
}

/** Fields, and the two buttons that end every form in a dialog. */
export function FormDialog({
  title,
  action = text.common.action.save,
  send,
  onClose,
  children,
  waits = false,
}: FormDialogProps) {
  const [working, setWorking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const stays = waits && working;
  async function onSubmit(): Promise<void> {
    setWorking(true);
    setError(null);
    try {
      await send();
    } catch (failure) {
      setError(failure);
    } finally {
      setWorking(false);
    }
  }
  return (
    <Dialog title={title} stays={stays} onClose={onClose}>
      <form
        className={ui['stack']}
        onSubmit={(event) => {
          event.preventDefault();
          // A form is sent by Enter too, which no button holds back.
          if (!working) void onSubmit();
        }}
      >
        {children}
        <Problem error={error} />
        <DialogActions>
          <Button onClick={onClose} disabled={stays}>
            {text.common.action.cancel}
          </Button>
          <Button type="submit" look="primary" busy={working && text.common.action.saving}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
