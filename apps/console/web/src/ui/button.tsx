import { type ComponentProps, type MouseEvent, type ReactNode, useState } from 'react';
import css from './ui.module.css';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'onClick'> {
  look?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** Label while it works. It cannot be pressed again then. */
  busy?: ReactNode;
  /** If it returns a promise, the button spins and cannot be pressed again until it settles. */
  onClick?: (event: MouseEvent<HTMLButtonElement>) => void | Promise<void>;
}

export function Button({ look = 'plain', busy, type = 'button', children, onClick, ...rest }: ButtonProps) {
  const [waits, setWaits] = useState(false);
  const isBusy = busy !== undefined && busy !== false && busy !== null;
  const working = waits || isBusy;

  async function press(event: MouseEvent<HTMLButtonElement>): Promise<void> {
    const answer = onClick?.(event);
    if (answer === undefined) return;
    setWaits(true);
    await answer.finally(() => setWaits(false));
  }

  return (
    <button
      {...rest}
      type={type}
      className={css['button']}
      data-look={look}
      data-waits={waits}
      // Not `disabled`, which would drop the focus.
      aria-disabled={working || undefined}
      onClick={working ? (event) => event.preventDefault() : (event) => void press(event)}
    >
      {working && <span className={css['spinner']} aria-hidden="true" />}
      {isBusy ? busy : children}
    </button>
  );
}

/** A name that opens what it names; plain text for people who may not open it. */
export function OpenButton({ onOpen, children }: { onOpen: (() => void) | null; children: ReactNode }) {
  if (onOpen === null) return <>{children}</>;
  return (
    <button type="button" className={css['linkButton']} onClick={onOpen}>
      {children}
    </button>
  );
}
