import type { ComponentProps, ReactNode } from 'react';
import css from './ui.module.css';

export interface ButtonProps extends ComponentProps<'button'> {
  look?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** What it says while it works; it can't be pressed again then. */
  busy?: ReactNode;
}

export function Button({ look = 'plain', busy, type = 'button', children, disabled, ...rest }: ButtonProps) {
  const working = busy !== undefined && busy !== false && busy !== null;
  return (
    <button {...rest} type={type} className={css['button']} data-look={look} disabled={disabled === true || working}>
      {working && <span className={css['spinner']} aria-hidden="true" />}
      {working ? busy : children}
    </button>
  );
}
