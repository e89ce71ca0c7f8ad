import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import css from './ui.module.css';

export interface DialogProps {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
  /** A drawer on the right side, for details of the page behind it. */
  side?: boolean;
  /** Escape and a click outside do not close it, because its content would be lost. */
  stays?: boolean;
}

/** A modal dialog, open as long as it is rendered. The browser traps the focus and restores it. */
export function Dialog({ title, onClose, children, side = false, stays = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const pressedBeside = useRef(false);
  const heading = useId();
  const [changed, setChanged] = useState(false);
  // A changed form closes only by its buttons.
  const keeps = stays || changed;
  // Closed while still in the document, because only then does the browser restore the focus.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) {
      dialog.showModal();
      // Focuses the first input, if any; else the browser has focused the first button.
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
      // Browsers let pages prevent one Escape, but close at the second.
      {...(keeps && { closedby: 'none' })}
      // What is typed into a dialog that opened from this one does not change this one.
      onInput={({ target }) => {
        const { form } = target as HTMLInputElement;
        if (form?.closest('dialog') === ref.current) setChanged(true);
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (!keeps) onClose();
      }}
      onMouseDown={(event) => {
        pressedBeside.current = event.target === ref.current;
      }}
      onClick={(event) => {
        // A selection of text may end outside.
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
