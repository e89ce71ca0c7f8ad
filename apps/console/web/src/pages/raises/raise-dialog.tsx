import { useState } from 'react';
import { useChange } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { dayOf, startOfDay } from '../../format/zoned.ts';
import { raises as words } from '../../text/raises.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { RAISE_READS, useTerms } from './raise-form.tsx';
import { useUntil } from './raised.tsx';

export interface RaisedLimit {
  budgetId: string;
  name: string;
  /** The value whose limit is raised; null to ask for it, undefined for a budget with one limit. */
  value?: string | null | undefined;
}

interface RaiseButtonProps {
  limit: RaisedLimit;
  /** Proposes the end of the day in the zone of the workspace. */
  untilMidnight?: boolean;
  /** Whether the form is open from the start. */
  opens?: boolean;
}

/** Raises a limit, for owners, or asks the owners for it. */
export function RaiseButton({ limit, untilMidnight = false, opens = false }: RaiseButtonProps) {
  const [isOpen, setIsOpen] = useState(opens);
  const mayRaise = useMay('owner');
  const mayAsk = useMay('member');
  const { raise, ask } = untilMidnight ? words.untilMidnight : words;
  const action = mayRaise ? raise : ask;
  if (!mayAsk) return null;
  return (
    <>
      <Button
        look={untilMidnight ? 'plain' : 'quiet'}
        aria-label={`${action}: ${limit.name}`}
        onClick={() => setIsOpen(true)}
      >
        {action}
      </Button>
      {isOpen && <RaiseDialog {...{ limit, mayRaise, untilMidnight }} onClose={() => setIsOpen(false)} />}
    </>
  );
}

interface RaiseDialogProps {
  limit: RaisedLimit;
  mayRaise: boolean;
  untilMidnight: boolean;
  onClose: () => void;
}

function RaiseDialog({ limit: { budgetId, name, value: given }, mayRaise, untilMidnight, onClose }: RaiseDialogProps) {
  const inWords = useUntil();
  const { timezone } = useWorkspace();
  const [midnight] = useState(() => startOfDay(dayOf(Date.now(), timezone), timezone, true));
  const terms = useTerms(untilMidnight ? { until: midnight } : {});
  const [value, setValue] = useState(given ?? '');
  const [reason, setReason] = useState('');
  const create = useChange('POST /api/v1/raises', RAISE_READS);

  async function send(): Promise<void> {
    const checked = terms.check();
    if (checked === undefined) return;
    const body = { budget_id: budgetId, ...(given !== undefined && { value }), ...checked, reason };
    const { state, extra_micros, until: end } = await create.mutateAsync({ body });
    toast(state === 'active' ? words.granted(name, money(extra_micros), inWords(end)) : words.asked);
    onClose();
  }

  return (
    <FormDialog
      title={mayRaise ? words.raiseTitle(name) : words.askTitle(name)}
      action={mayRaise ? words.raise : words.ask}
      send={send}
      onClose={onClose}
    >
      <p className={ui['hint']}>{mayRaise ? words.form.hint : words.form.askHint}</p>
      {given === null && (
        <TextField
          label={words.form.value}
          hint={words.form.valueHint}
          required
          maxLength={256}
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
      )}
      {terms.fields}
      <TextField
        label={words.form.reason}
        required
        maxLength={200}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  );
}
