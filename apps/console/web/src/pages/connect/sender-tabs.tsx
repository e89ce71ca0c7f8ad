import { type KeyboardEvent, useRef } from 'react';
import { connect as words } from '../../text/connect.ts';
import type { Sender } from '../../text/sender.ts';
import { SENDERS } from '../../text/senders.ts';
import css from './connect.module.css';

interface SenderTabsProps {
  chosen: Sender;
  /** Id of the element that shows the chosen sender. */
  panel: string;
  onChoose: (id: string) => void;
}

/** Where each key leads from a tab. */
const STEPS: Record<string, (index: number, last: number) => number> = {
  ArrowRight: (index, last) => (index === last ? 0 : index + 1),
  ArrowLeft: (index, last) => (index === 0 ? last : index - 1),
  Home: () => 0,
  End: (_, last) => last,
};

/** A tab for each sender. Tab reaches the chosen one, and arrows, Home and End the others. */
export function SenderTabs({ chosen, panel, onChoose }: SenderTabsProps) {
  const list = useRef<HTMLDivElement>(null);

  function move(event: KeyboardEvent): void {
    const next = STEPS[event.key]?.(SENDERS.indexOf(chosen), SENDERS.length - 1);
    if (next === undefined) return;
    event.preventDefault();
    onChoose(SENDERS[next]!.id);
    list.current?.querySelectorAll('button')[next]?.focus();
  }

  return (
    <div ref={list} className={css['tabs']} role="tablist" aria-label={words.senders} onKeyDown={move}>
      {SENDERS.map(({ id, name }) => (
        <button
          key={id}
          id={`${panel}-${id}`}
          type="button"
          role="tab"
          aria-selected={id === chosen.id}
          aria-controls={panel}
          tabIndex={id === chosen.id ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
