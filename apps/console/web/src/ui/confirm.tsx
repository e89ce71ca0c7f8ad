import { type ReactNode, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { explain } from './explain.ts';
import css from './ui.module.css';

export interface ConfirmProps {
  /** Includes the name: "Delete the rule “Runaway agent”". */
  title: string;
  /** The consequences, and what cannot be undone. */
  children: ReactNode;
  action: string;
  /** If this fails, the dialog stays open and shows why. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  const [working, setWorking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function confirm(): Promise<void> {
    setWorking(true);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setWorking(false);
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      <Problem error={error} />
      <DialogActions>
        <Button onClick={onClose}>{text.common.action.cancel}</Button>
        <Button look="danger" busy={working && action} onClick={() => void confirm()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Why a change failed, inside a form or a dialog. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return <div role="alert" />;
  const { message, requestId } = explain(error);
  return (
    <div role="alert" className={css['alarm']}>
      {message} {requestId !== null && <small>{text.common.failed.request(requestId)}</small>}
    </div>
  );
}
