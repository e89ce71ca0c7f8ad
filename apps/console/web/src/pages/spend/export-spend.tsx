import { useState } from 'react';
import { useTrackedLabels, useWorkspace } from '../../app/account.tsx';
import { type LabelFilter, withLabel } from '../../app/label-search.ts';
import { useSpan } from '../../app/span.ts';
import { divisionsOf, wordsOf } from '../../charts/division.ts';
import { exports as words } from '../../text/exports.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { ChoiceField } from '../../ui/field.tsx';
import ui from '../../ui/ui.module.css';

const FORMATS = ['csv', 'ndjson', 'focus'] as const;
type Format = (typeof FORMATS)[number];

interface ExportSpendProps {
  label: LabelFilter | undefined;
  /** The span of the page in words. */
  line: string;
}

/** The spend of the page as a file. */
export function ExportSpend(props: ExportSpendProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{words.open}</Button>
      {isOpen && <ExportDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ExportDialog({ label, line, onClose }: ExportSpendProps & { onClose: () => void }) {
  const [format, setFormat] = useState<Format>('csv');
  const [rows, setRows] = useState<string>('day');
  const { slug } = useWorkspace();
  const { query } = useSpan();
  const divisions = divisionsOf(useTrackedLabels());
  const isFocus = format === 'focus';
  // The spend of a label is not divided further.
  const groups = label === undefined ? divisions.map((by) => [by, words.rows.group(wordsOf(by).name)] as const) : [];
  const search = new URLSearchParams({
    ...query,
    ...(label && withLabel(label)),
    ...(!isFocus && rows !== 'day' && { group_by: rows }),
    format,
  });
  return (
    <Dialog title={words.title} onClose={onClose}>
      <div className={ui['stack']}>
        <p>{line}</p>
        <ChoiceField
          label={words.format.label}
          hint={words.hint}
          value={format}
          options={FORMATS.map((each) => [each, words.format[each]] as const)}
          onChange={setFormat}
        />
        <ChoiceField
          label={words.rows.label}
          hint={isFocus ? words.rowsOfFocus : undefined}
          disabled={isFocus}
          value={rows}
          options={[['day', words.rows.day] as const, ...groups, ['call', words.rows.call] as const]}
          onChange={setRows}
        />
        <DialogActions>
          <Button onClick={onClose}>{text.common.action.cancel}</Button>
          {/* A link, so that the browser saves the stream without holding it in memory. */}
          <a
            className={ui['button']}
            data-look="primary"
            href={`/w/${slug}/api/v1/dashboard/export?${search.toString()}`}
            onClick={onClose}
            download
          >
            {words.download}
          </a>
        </DialogActions>
      </div>
    </Dialog>
  );
}
