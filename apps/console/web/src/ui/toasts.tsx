import { useSyncExternalStore } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { explain } from './explain.ts';
import css from './ui.module.css';

interface Toast {
  id: number;
  message: string;
  tone: 'ok' | 'bad';
  undo?: (() => void) | undefined;
}

const SHOWN_MS = 8_000;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function dismiss(id: number): void {
  keep(id);
  set(toasts.filter((toast) => toast.id !== id));
}

/** Confirms a change, with a way to undo it if there is one. */
export function toast(message: string, options: { tone?: 'ok' | 'bad'; undo?: () => void } = {}): void {
  lastId += 1;
  const id = lastId;
  set([...toasts.slice(-2), { id, message, tone: options.tone ?? 'ok', undo: options.undo }]);
  endLater(id);
}

/** Shows why a change failed that has no place of its own for errors, such as an undo. */
export function toastFailure(error: unknown): void {
  toast(explain(error).message, { tone: 'bad' });
}

const ends = new Map<number, ReturnType<typeof setTimeout>>();

function endLater(id: number): void {
  keep(id);
  ends.set(
    id,
    setTimeout(() => dismiss(id), SHOWN_MS),
  );
}

/** Keeps the toast while it is hovered or focused. */
function keep(id: number): void {
  clearTimeout(ends.get(id));
  ends.delete(id);
}

/** Toasts and their undo belong to one person in one workspace. */
export function clearToasts(): void {
  set([]);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className={css['toasts']} role="status">
      {shown.map((each) => (
        <ToastLine key={each.id} {...each} />
      ))}
    </div>
  );
}

function ToastLine({ id, message, tone, undo }: Toast) {
  return (
    <div
      className={css['toast']}
      data-tone={tone}
      onMouseEnter={() => keep(id)}
      onMouseLeave={() => endLater(id)}
      onFocus={() => keep(id)}
      onBlur={() => endLater(id)}
    >
      <span>{message}</span>
      {undo === undefined ? (
        <Button look="quiet" onClick={() => dismiss(id)}>
          {text.common.action.close}
        </Button>
      ) : (
        <Button
          look="quiet"
          onClick={() => {
            dismiss(id);
            undo();
          }}
        >
          {text.common.action.undo}
        </Button>
      )}
    </div>
  );
}
