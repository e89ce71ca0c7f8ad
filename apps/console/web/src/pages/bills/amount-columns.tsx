import { bills as words } from '../../text/bills.ts';
import type { Column } from '../../ui/cells.tsx';
import { Money } from '../../ui/figures.tsx';
import { type Compared, Difference } from './bill-parts.tsx';

/** What was billed and counted, and the difference. */
export const AMOUNTS: readonly Column<Compared>[] = [
  {
    key: 'billed',
    head: words.column.billed,
    align: 'right',
    cell: ({ charged_micros: micros }) => <Money micros={micros} />,
  },
  {
    key: 'counted',
    head: words.column.counted,
    align: 'right',
    wide: true,
    cell: ({ counted_micros: micros }) => <Money micros={micros} />,
  },
  { key: 'difference', head: words.column.difference, align: 'right', cell: (row) => <Difference of={row} /> },
];
