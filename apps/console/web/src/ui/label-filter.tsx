import { type FormEvent, useId, useState } from 'react';
import { useRead } from '../api/api.ts';
import { useTrackedLabels } from '../app/account.tsx';
import type { LabelFilter as Filter } from '../app/label-search.ts';
import { useSpan } from '../app/span.ts';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { ChoiceField, TextField } from './field.tsx';
import { Tag } from './parts.tsx';
import css from './ui.module.css';

const words = text.labels.filter;

interface LabelFilterProps {
  /** The filter in the URL. */
  label: Filter | undefined;
  set: (label: Filter | undefined) => void;
}

/** Filters the page by a value of a tracked label. Nothing if the workspace tracks none. */
export function LabelFilter({ label, set }: LabelFilterProps) {
  const tracked = useTrackedLabels();
  if (label !== undefined) {
    return (
      <div className={css['row']}>
        <span>{words.only}</span> <Tag>{`${label.name}=${label.value}`}</Tag>
        <Button onClick={() => set(undefined)}>{words.clear}</Button>
      </div>
    );
  }
  const [first] = tracked;
  return first === undefined ? null : <Choice tracked={tracked} first={first} set={set} />;
}

interface ChoiceProps extends Pick<LabelFilterProps, 'set'> {
  tracked: readonly string[];
  first: string;
}

function Choice({ tracked, first, set }: ChoiceProps) {
  const [name, setName] = useState(first);
  const [value, setValue] = useState('');
  const values = useValues(name);
  const list = useId();
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (value.trim() !== '') set({ name, value: value.trim() });
  }
  return (
    <form className={css['filters']} onSubmit={submit}>
      <ChoiceField
        label={words.label}
        value={name}
        options={tracked.map((each) => [each, each] as const)}
        onChange={setName}
      />
      <TextField
        label={words.value}
        value={value}
        maxLength={128}
        list={list}
        autoComplete="off"
        onChange={({ target }) => setValue(target.value)}
      />
      <datalist id={list}>
        {values.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <Button type="submit">{words.apply}</Button>
    </form>
  );
}

/** The values that spent most in the page's span. */
function useValues(name: string): string[] {
  const { query } = useSpan();
  const by = `label:${name}` as const;
  const breakdown = useRead('GET /api/v1/dashboard/spend/breakdown', { query: { ...query, by, limit: 20 } });
  return breakdown.data?.groups.flatMap(({ key }) => key ?? []) ?? [];
}
