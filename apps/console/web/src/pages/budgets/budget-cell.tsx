import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import { editableMoney, exactMoney, money, parseMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { explain } from '../../ui/explain.ts';
import { Money } from '../../ui/figures.tsx';
import { useIsForNow } from '../../ui/table.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

const words = text.budgets;

export interface BudgetCellProps {
  /** Display name of the budget's owner. */
  name: string;
  micros: number | null;
  /** Label of the field. */
  label: string;
  /** Spent and reserved in the period; undefined if unknown, or if a lower limit would block nothing. */
  usedMicros: number | undefined;
  /** Saves the new amount, null to remove the budget, and confirms it. */
  save: (next: number | null, before: number | null) => Promise<unknown>;
  /** Whether the budget may be removed. */
  optional?: boolean;
  /** Scrolls to the budget and focuses it, because a link leads to it. */
  isLedTo?: boolean;
  /** Called once the budget has the focus. */
  onArrived?: () => void;
  /** Keeps the typed text under this id while the cell is not drawn, as in a long table. */
  kept?: { drafts: Map<string, string>; id: string };
}

/** The limit of a budget, edited in place. */
export function BudgetCell({ isLedTo = false, onArrived, kept, ...budget }: BudgetCellProps) {
  const { name, micros } = budget;
  const [draft, setOwnDraft] = useState(kept?.drafts.get(kept.id) ?? null);
  // A cell redrawn with its draft must not take the focus: the person may be typing elsewhere.
  const [isBack, setIsBack] = useState(draft !== null);
  const edit = useRef<HTMLButtonElement>(null);

  const arrive = useEffectEvent(() => {
    edit.current?.scrollIntoView({ block: 'center' });
    edit.current?.focus({ preventScroll: true });
    onArrived?.();
  });
  const isForNow = useIsForNow();
  useEffect(() => {
    if (isLedTo && !isForNow) arrive();
  }, [isLedTo, isForNow]);

  function setDraft(next: string): void {
    setOwnDraft(next);
    kept?.drafts.set(kept.id, next);
  }

  function stop(): void {
    setOwnDraft(null);
    kept?.drafts.delete(kept.id);
    setIsBack(false);
    // Returns the focus to where it was.
    setTimeout(() => edit.current?.focus());
  }

  if (draft !== null) return <BudgetForm {...budget} {...{ draft, setDraft, stop }} autoFocus={!isBack} />;
  const action = micros === null ? words.set : text.common.action.edit;
  return (
    <span className={ui['row']}>
      {micros === null ? <span className={ui['hint']}>{words.unset}</span> : <Money micros={micros} />}
      <Button
        ref={edit}
        look="quiet"
        aria-label={`${action}: ${name}`}
        onClick={() => setDraft(micros === null ? '' : editableMoney(micros))}
      >
        {action}
      </Button>
    </span>
  );
}

interface BudgetFormProps extends Pick<
  BudgetCellProps,
  'name' | 'label' | 'micros' | 'usedMicros' | 'save' | 'optional'
> {
  draft: string;
  setDraft: (draft: string) => void;
  stop: () => void;
  autoFocus: boolean;
}

/** Confirms each saved budget of `name`, and offers to undo it. */
export function withUndo(name: string, save: (micros: number | null) => Promise<unknown>): BudgetCellProps['save'] {
  return async function store(next, before) {
    await save(next);
    toast(next === null ? words.removed(name) : words.saved(name, exactMoney(next)), {
      undo: () => void store(before, next).catch(toastFailure),
    });
  };
}

function BudgetForm(props: BudgetFormProps) {
  const { name, label, micros, usedMicros, save, optional = true, draft, setDraft, stop, autoFocus } = props;
  const [problem, setProblem] = useState<string | null>(null);
  const [warned, setWarned] = useState(false);
  const [working, setWorking] = useState(false);

  async function onSubmit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const removes = optional && draft.trim() === '';
    const next = removes ? null : parseMoney(draft);
    if (next === null && !removes) return setProblem(text.common.money.bad);
    if (next !== null && usedMicros !== undefined && next < usedMicros && !warned) {
      setWarned(true);
      return setProblem(words.below(name, money(usedMicros)));
    }
    if (next === micros) return stop();
    setWorking(true);
    try {
      await save(next, micros);
      stop();
    } catch (error) {
      setProblem(explain(error).message);
    } finally {
      setWorking(false);
    }
  }

  return (
    <form
      className={ui['field']}
      onSubmit={(event) => void onSubmit(event)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') stop();
      }}
    >
      <span className={ui['row']}>
        <input
          className={ui['short']}
          autoFocus={autoFocus}
          inputMode="decimal"
          aria-label={label}
          aria-invalid={problem !== null}
          value={draft}
          onChange={(event) => {
            setDraft(event.target.value);
            setProblem(null);
            setWarned(false);
          }}
        />
        <Button type="submit" look="primary" busy={working && text.common.action.saving}>
          {warned ? words.saveAnyway : text.common.action.save}
        </Button>
        <Button onClick={stop}>{text.common.action.cancel}</Button>
      </span>
      <span className={problem === null ? ui['hint'] : ui['problem']} role="alert">
        {problem ?? (optional ? words.unsetHint : '')}
      </span>
    </form>
  );
}
