import { type ReactNode, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { Problem } from './confirm.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import ui from './ui.module.css';

export interface FormDialogProps {
  title: ReactNode;
  /** Label of the button that submits the form. */
  action?: string;
  /** Submits the form and closes the dialog. If it fails, the dialog stays open and shows why. */
  send: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
  /** The dialog cannot be closed during the request, because the answer is shown only once. */
  waits?: boolean;
  /** A drawer, for a form of many fields. */
  side?: boolean;
  /** What else can be done, such as deleting what is edited. */
  other?: ReactNode;
}

/** Fields, and the two buttons at the end of every form dialog. */
export function FormDialog({
  title,
  action = text.common.action.save,
  send,
  onClose,
  children,
  waits = false,
  side = false,
  other,
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
    <Dialog title={title} side={side} stays={stays} onClose={onClose}>
      <form
        className={ui['stack']}
        onSubmit={(event) => {
          event.preventDefault();
          // Enter also submits the form, even if the button is inactive.
          if (!working) void onSubmit();
        }}
      >
        {children}
        <Problem error={error} />
        <DialogActions>
          {other}
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
