import { useEffect, useRef, useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { budgetSentence } from '../../text/budget-sentence.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { fieldProblems } from '../../ui/field-problems.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { FIELDS, type FieldsProps, PARTS } from './budget-fields.tsx';
import {
  type BudgetForm,
  type BudgetInput,
  EMPTY,
  patchOf,
  type Problems,
  readForm,
  termsOf,
  toForm,
} from './budget-form.ts';
import { BudgetPreview } from './budget-preview.tsx';
import { BUDGET_READS, originOf } from './budget-reads.ts';

const words = text.budgets;
const NO_PROBLEMS: Problems = new Map();

export interface BudgetDialogProps {
  /** Null to create one. */
  budget: Api.Budget | null;
  budgets: readonly Api.Budget[];
  onClose: () => void;
}

/** Creates a budget, edits one, or deletes it. A sentence at the top says what it does; a preview, whom it affects. */
export function BudgetDialog({ budget, budgets, onClose }: BudgetDialogProps) {
  const { timezone: zone } = useWorkspace();
  const [form, setForm] = useState<BudgetForm>(budget === null ? EMPTY : toForm(budget, zone));
  const [shown, setShown] = useState(NO_PROBLEMS);
  const [removing, setRemoving] = useState(false);
  const create = useChange('POST /api/v1/budgets', BUDGET_READS);
  const edit = useChange('PATCH /api/v1/budgets/{budget_id}', BUDGET_READS);
  const { draft, problems } = readForm(form, zone);
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (shown.size > 0) fields.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [shown]);

  async function send(): Promise<void> {
    setShown(problems);
    if (problems.size > 0) throw new Error(words.form.problems.marked);
    try {
      await save(draft as BudgetInput);
    } catch (error) {
      const refused = fieldProblems(error, FIELDS);
      if (refused === null) throw error;
      setShown(refused);
      throw new Error(words.form.problems.marked, { cause: error });
    }
    toast(budget === null ? words.created(draft.name) : words.edited(draft.name));
    onClose();
  }

  async function save(input: BudgetInput): Promise<void> {
    if (budget === null) return void (await create.mutateAsync({ body: input }));
    const before = readForm(toForm(budget, zone), zone).draft as BudgetInput;
    await edit.mutateAsync({ path: { budget_id: budget.id }, body: patchOf(before, input) });
  }

  if (removing && budget !== null) return <RemoveBudget budget={budget} onClose={onClose} />;
  const overridden = budgets.find(({ id }) => id === form.overrides)?.name;
  const props: FieldsProps = {
    form,
    set: (change) => {
      setForm({ ...form, ...change });
      setShown(NO_PROBLEMS);
    },
    problems: shown,
    budgets: budgets.filter(({ id }) => id !== budget?.id),
  };
  return (
    <FormDialog
      side
      title={budget === null ? words.create : words.edit(budget.name)}
      send={send}
      onClose={onClose}
      other={
        budget !== null && (
          <Button look="danger" onClick={() => setRemoving(true)}>
            {text.common.action.remove}
          </Button>
        )
      }
    >
      <p className={ui['says']} role="status">
        {budgetSentence(draft, { zone, overridden })}
      </p>
      <BudgetPreview terms={termsOf(draft, problems)} />
      <div ref={fields} className={ui['stack']}>
        {PARTS[originOf(budget)].map((Part, index) => (
          <Part key={index} {...props} />
        ))}
      </div>
    </FormDialog>
  );
}

function RemoveBudget({ budget, onClose }: { budget: Api.Budget; onClose: () => void }) {
  const remove = useChange('DELETE /api/v1/budgets/{budget_id}', BUDGET_READS);
  return (
    <Confirm
      title={words.remove.title(budget.name)}
      action={text.common.action.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ path: { budget_id: budget.id } });
        toast(words.remove.done(budget.name));
      }}
    >
      {words.remove.text[originOf(budget)]}
    </Confirm>
  );
}
