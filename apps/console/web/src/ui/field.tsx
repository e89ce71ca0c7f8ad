import { type ComponentProps, type ReactNode, useId } from 'react';
import css from './ui.module.css';

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** The problem with the value, if any. */
  problem?: string | undefined;
}

/** A label, an input, and below it a hint or the problem. */
export function TextField({ label, hint, problem, ...input }: FieldProps & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className={css['field']}>
      <label htmlFor={id}>{label}</label>
      <input {...input} id={id} aria-describedby={`${id}-about`} aria-invalid={problem !== undefined} />
      <FieldNote id={`${id}-about`} hint={hint} problem={problem} />
    </div>
  );
}

export function TextAreaField({ label, hint, problem, ...area }: FieldProps & ComponentProps<'textarea'>) {
  const id = useId();
  return (
    <div className={css['field']}>
      <label htmlFor={id}>{label}</label>
      <textarea {...area} id={id} aria-describedby={`${id}-about`} aria-invalid={problem !== undefined} />
      <FieldNote id={`${id}-about`} hint={hint} problem={problem} />
    </div>
  );
}

export function SelectField({ label, hint, problem, ...select }: FieldProps & ComponentProps<'select'>) {
  const id = useId();
  return (
    <div className={css['field']}>
      <label htmlFor={id}>{label}</label>
      <select {...select} id={id} aria-describedby={`${id}-about`} aria-invalid={problem !== undefined} />
      <FieldNote id={`${id}-about`} hint={hint} problem={problem} />
    </div>
  );
}

interface ChoiceProps<T extends string> extends FieldProps, Pick<ComponentProps<'select'>, 'disabled'> {
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** One of a few named values. */
export function ChoiceField<T extends string>({ value, options, onChange, ...field }: ChoiceProps<T>) {
  return (
    <SelectField
      {...field}
      value={value}
      onChange={({ target }) => onChange(options.find(([each]) => each === target.value)?.[0] ?? value)}
    >
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function FieldNote({ id, hint, problem }: { id: string; hint: ReactNode; problem: string | undefined }) {
  return (
    <span id={id} className={problem === undefined ? css['hint'] : css['problem']} aria-live="polite">
      {problem ?? hint}
    </span>
  );
}
