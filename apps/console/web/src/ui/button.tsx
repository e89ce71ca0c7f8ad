import type { ComponentProps, ReactNode } from 'react';
import css from './ui.module.css';

export interface ButtonProps extends ComponentProps<'button'> {
  look?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** What it says while it works; it can't be pressed again then. */
  busy?: ReactNode;
}

export function Button({ look = 'plain', busy, type = 'button', children, onClick, ...rest }: ButtonProps) {
  const working = busy !== undefined && busy !== false && busy !== null;
  return (
    <button
      {...rest}
      type={type}
      className={css['button']}
      data-look={look}
      // Not `disabled`, which would drop the focus.
      aria-disabled={working || undefined}
      onClick={working ? (event) => event.preventDefault() : onClick}
    >
      {working && <span className={css['spinner']} aria-hidden="true" />}
      {working ? busy : children}
    </button>
  );
}
