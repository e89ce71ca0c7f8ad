import { useId } from 'react';
import css from './ui.module.css';

export interface ChecksProps<T extends string | number> {
  label: string;
  hint?: string;
  options: readonly (readonly [T, string])[];
  chosen: readonly T[];
  onChange: (chosen: readonly T[]) => void;
}

/** Checkboxes for any of a few options. */
export function Checks<T extends string | number>({ label, hint, options, chosen, onChange }: ChecksProps<T>) {
  const id = useId();
  return (
    <fieldset className={css['checks']} aria-describedby={hint === undefined ? undefined : id}>
      <legend>{label}</legend>
      {options.map(([option, name]) => (
        <label key={option} className={css['check']}>
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, option] : chosen.filter((each) => each !== option))
            }
          />
          {name}
        </label>
      ))}
      {hint !== undefined && (
        <span id={id} className={css['hint']}>
          {hint}
        </span>
      )}
    </fieldset>
  );
}
