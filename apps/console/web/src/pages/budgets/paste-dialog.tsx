import { useState } from 'react';
import type { Api } from '../../api/api.ts';
import { exactMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { TextAreaField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import ui from '../../ui/ui.module.css';
import { readPasted } from './pasted.ts';
import type { LimitChange } from './use-limit-changes.ts';

const words = text.budgets.sheet;

export interface PasteDialogProps {
  /** The selected budgets in the order of the rows. */
  budgets: readonly Api.Budget[];
  pasted: string;
  change: (changes: readonly LimitChange[]) => Promise<void>;
  onClose: () => void;
}

/** Sets the limits of the selected budgets to a column of amounts, after showing what changes. */
export function PasteDialog({ budgets, pasted, change, onClose }: PasteDialogProps) {
  const [typed, setTyped] = useState(pasted);
  const { amounts, problem } = readPasted(typed, budgets.length);
  const changes = budgets.flatMap((budget, index) => {
    const micros = amounts?.[index] ?? null;
    return micros === null || micros === budget.limit_micros ? [] : [{ budget, micros }];
  });

  async function send(): Promise<void> {
    if (amounts === undefined) return;
    if (changes.length > 0) await change(changes);
    onClose();
  }

  return (
    <FormDialog title={words.paste} action={words.apply} send={send} onClose={onClose}>
      <TextAreaField
        label={words.pasteField}
        hint={words.pasteHint}
        problem={typed === '' ? undefined : problem}
        rows={6}
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      {amounts !== undefined && (
        <ul className={ui['changes']} aria-label={words.changes}>
          {changes.length === 0 && <li>{words.unchanged}</li>}
          {changes.map(({ budget, micros }) => (
            <li key={budget.id}>{words.pasteRow(budget.name, exactMoney(budget.limit_micros), exactMoney(micros))}</li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}
