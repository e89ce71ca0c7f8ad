import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import css from './ui.module.css';

export interface DialogProps {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
  /** A drawer on the right side, for details of what stands behind it. */
  side?: boolean;
  /** Escape and a click beside it do not close it: there is something in it that would be lost. */
  stays?: boolean;
}

/** A modal dialog; the browser holds the focus in it and gives it back. Shown as long as it is rendered. */
export function Dialog({ title, onClose, children, side = false, stays = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const pressedBeside = useRef(false);
  const heading = useId();
  const [changed, setChanged] = useState(false);
  // A form that somebody has filled in is left by its buttons alone.
  const keeps = stays || changed;
  // Closed while it is still in the page: the browser gives the focus back only then.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) {
      dialog.showModal();
      // Where typing begins, if there is such a place; else the browser has chosen the first button.
      dialog.querySelector<HTMLElement>('input:not([readonly]), select, textarea')?.focus();
    }
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={css['dialog']}
      data-side={side}
      aria-labelledby={heading}
      // A browser lets one Escape be prevented, and closes at the second.
      {...(keeps && { closedby: 'none' })}
      onInput={({ target }) => setChanged(Boolean((target as HTMLInputElement).form))}
      onCancel={(event) => {
        event.preventDefault();
        if (!keeps) onClose();
      }}
      onMouseDown={(event) => {
        pressedBeside.current = event.target === ref.current;
      }}
      onClick={(event) => {
        // A selection of text may end beside it.
        if (event.target === ref.current && pressedBeside.current && !keeps) onClose();
      }}
    >
      <div className={css['dialogInside']}>
        <div className={css['dialogHead']}>
          <h2 id={heading}>{title}</h2>
          {!stays && (
            <Button look="quiet" onClick={onClose}>
              {text.common.action.close}
            </Button>
          )}
        </div>
        {children}
      </div>
    </dialog>
  );
}

export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={css['actions']}>{children}</div>;
}
