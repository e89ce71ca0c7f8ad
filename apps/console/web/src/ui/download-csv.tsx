import { useEffect, useRef, useState } from 'react';
import { text } from '../text/index.ts';
import { AllRows, Heads, type TableProps } from './cells.tsx';
import css from './ui.module.css';

/** Saves the rows of a table, all of its columns, with the exact figures that it shows on hover. */
export function DownloadCsv<Row>(props: TableProps<Row>) {
  const [saving, setSaving] = useState(false);
  return (
    <>
      <button type="button" className={css['linkButton']} title={text.common.file.hint} onClick={() => setSaving(true)}>
        {text.common.file.download}
      </button>
      {saving && <Drawn {...props} onSaved={() => setSaving(false)} />}
    </>
  );
}

/** The whole table, out of sight: long lists draw only the rows in sight. */
function Drawn<Row>({ onSaved, ...props }: TableProps<Row> & { onSaved: () => void }) {
  const { label } = props;
  const table = useRef<HTMLTableElement>(null);
  useEffect(() => {
    let isGone = false;
    void import('./csv-file.ts').then(({ linesOf, saveFile }) => {
      if (isGone || table.current === null) return;
      saveFile(label, linesOf(table.current));
      onSaved();
    });
    return () => {
      isGone = true;
    };
  });
  return (
    <table ref={table} hidden>
      <Heads {...props} />
      <AllRows {...props} />
    </table>
  );
}
