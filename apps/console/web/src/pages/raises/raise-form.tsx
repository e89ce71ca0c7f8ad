import { useState } from 'react';
import { useWorkspace } from '../../app/account.tsx';
import { editableMoney, parseMoney } from '../../format/money.ts';
import { instantOf, localOf } from '../../format/zoned.ts';
import { raises } from '../../text/raises.ts';
import { TextField } from '../../ui/field.tsx';

const words = raises.form;
const HOUR_MS = 3_600_000;
const MAX_MS = 31 * 24 * HOUR_MS;
/** How long a raise lasts unless people enter another time. */
const USUAL_MS = 4 * HOUR_MS;

/** What the operations that change raises affect. */
export const RAISE_READS = [
  'GET /api/v1/raises',
  'GET /api/v1/raises/{raise_id}',
  'GET /api/v1/limits',
  'GET /api/v1/budgets',
] as const;

interface Terms {
  extra_micros: number;
  until: string;
}

/** The amount and the end of a raise as typed. */
export function useTerms(given: Partial<Terms>) {
  const { timezone: zone } = useWorkspace();
  const [start] = useState(() => given.until ?? new Date(Date.now() + USUAL_MS).toISOString());
  const [amount, setAmount] = useState(given.extra_micros === undefined ? '' : editableMoney(given.extra_micros));
  const [until, setUntil] = useState(() => localOf(start, zone));
  const [isChecked, setIsChecked] = useState(false);

  const micros = parseMoney(amount);
  // An end that nobody changed keeps its seconds, which the field does not show.
  const instant = until === localOf(start, zone) ? start : instantOf(until, zone);
  const isAmount = micros !== null && micros > 0;
  const isEnd = instant !== null && isInReach(Date.parse(instant));

  return {
    /** The terms, or undefined if they are not valid; the fields then say why. */
    check(): Terms | undefined {
      setIsChecked(true);
      return isAmount && isEnd ? { extra_micros: micros, until: instant } : undefined;
    },
    fields: (
      <>
        <TextField
          label={words.amount}
          problem={isChecked && !isAmount ? words.amountProblem : undefined}
          required
          inputMode="decimal"
          value={amount}
          onChange={({ target }) => setAmount(target.value)}
        />
        <TextField
          label={words.until(zone)}
          problem={isChecked && !isEnd ? words.untilProblem : undefined}
          type="datetime-local"
          required
          value={until}
          onChange={({ target }) => setUntil(target.value)}
        />
      </>
    ),
  };
}

function isInReach(until: number): boolean {
  const left = until - Date.now();
  return left > 0 && left <= MAX_MS;
}
