import type { Api } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import type { Column } from '../../ui/cells.tsx';
import { Money } from '../../ui/figures.tsx';

const AMOUNTS = [
  ['used', 'spent_micros'],
  ['held', 'held_micros'],
  ['left', 'remaining_micros'],
] as const;

/** Table columns with the use of budgets. */
export function limitColumns<Row>(limitOf: (row: Row) => Api.Limit | undefined): Column<Row>[] {
  return AMOUNTS.map(([key, amount]) => ({
    key,
    head: text.budgets.column[key],
    align: 'right',
    wide: true,
    cell: (row) => {
      const limit = limitOf(row);
      return limit === undefined ? text.common.none : <Money micros={limit[amount]} />;
    },
  }));
}
