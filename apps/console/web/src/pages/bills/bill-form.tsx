import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { bills } from '../../text/bills.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import { fieldProblems } from '../../ui/field-problems.ts';
import ui from '../../ui/ui.module.css';

const words = bills.form;
/** What the API accepts. */
const MAX_BYTES = 1024 * 1024;
const MAX_NAME = 128;

/** Uploads a cost file and opens the comparison. What is wrong with the file, with its line, is below the field. */
export function BillForm() {
  const { slug } = useWorkspace();
  const navigate = useNavigate();
  const [file, setFile] = useState<File | null>(null);
  const [problem, setProblem] = useState<string>();
  const [error, setError] = useState<unknown>(null);
  const [working, setWorking] = useState(false);
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  const compare = useChange('POST /api/v1/reconciliations', ['GET /api/v1/reconciliations']);

  function choose(next: File | null): void {
    setFile(next);
    setProblem(undefined);
    setError(null);
  }

  async function send(): Promise<void> {
    choose(file);
    if (file === null) return setProblem(words.missing);
    if (file.size > MAX_BYTES) return setProblem(words.large);
    setWorking(true);
    try {
      await compareFile(file);
    } catch (failure) {
      const refused = fieldProblems(failure, ['body'])?.get('body');
      if (refused === undefined) setError(failure);
      else setProblem(refused);
    } finally {
      setWorking(false);
    }
  }

  async function compareFile(chosen: File): Promise<void> {
    const bytes = await chosen.arrayBuffer().catch(() => null);
    if (bytes === null) return setProblem(words.unreadable);
    const { id } = await compare.mutateAsync({
      query: { file_name: chosen.name.slice(0, MAX_NAME) },
      body: new Blob([bytes], { type: 'text/csv' }),
    });
    // Who has left the page meanwhile finds the comparison in the list.
    if (isShown.current) await navigate({ to: '/w/$slug/bills/$billId', params: { slug, billId: id } });
  }

  return (
    <form
      className={ui['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (!working) void send();
      }}
    >
      <TextField
        label={words.file}
        hint={words.fileHint}
        problem={problem}
        type="file"
        accept=".csv,text/csv"
        disabled={working}
        onChange={({ target }) => choose(target.files?.[0] ?? null)}
      />
      <Problem error={error} />
      <div className={ui['row']}>
        <Button type="submit" look="primary" busy={working && words.comparing}>
          {words.compare}
        </Button>
        <span role="status" className={ui['hint']}>
          {working && file !== null && words.working(file.name)}
        </span>
      </div>
    </form>
  );
}

/** Where to get the file. */
export function BillSources() {
  return (
    <div className={ui['note']}>
      <strong>{words.where}</strong>
      {bills.sources.map(({ name, link, text }) => (
        <p key={name}>
          <strong>{name}</strong>
          {': '}
          {link !== null && (
            <>
              <a href={link.href} target="_blank" rel="noreferrer">
                {link.name}
              </a>
              {'. '}
            </>
          )}
          {text}
        </p>
      ))}
    </div>
  );
}
