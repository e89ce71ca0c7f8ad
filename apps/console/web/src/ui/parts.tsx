import { createContext, type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Answer } from '../api/api.ts';
import { useWorkspace } from '../app/account.tsx';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { explain } from './explain.ts';
import css from './ui.module.css';

export type Tone = 'calm' | 'ok' | 'warn' | 'bad';

/** The top of a page: its name, a line about it, and its actions. */
export function PageHead({ title, line, children }: { title: ReactNode; line?: ReactNode; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${heading.current?.textContent} · ${text.common.product}`;
    return () => {
      document.title = text.common.product;
    };
  }, [title]);
  return (
    <header className={css['pageHead']}>
      <div>
        <h1 ref={heading}>{title}</h1>
        {line !== undefined && <p>{line}</p>}
      </div>
      <div>{children}</div>
    </header>
  );
}

/** Where tables of a card put what people can do with them; null outside of cards with a title. */
export const CardTools = createContext<HTMLElement | null>(null);

export function Card({ title, link, children }: { title?: ReactNode; link?: ReactNode; children: ReactNode }) {
  const [tools, setTools] = useState<HTMLElement | null>(null);
  return (
    <section className={css['card']}>
      {title !== undefined && (
        <div className={css['cardHead']}>
          <h2>{title}</h2>
          <div className={css['cardLinks']}>
            {link}
            <span ref={setTools} className={css['cardTools']} />
          </div>
        </div>
      )}
      <CardTools value={tools}>{children}</CardTools>
    </section>
  );
}

export function Tag({ tone = 'calm', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={css['tag']} data-tone={tone}>
      {children}
    </span>
  );
}

export interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** A choice of one of a few values. */
export function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>) {
  return (
    <div className={css['segments']} role="group" aria-label={label}>
      {options.map(([option, name]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {name}
        </button>
      ))}
    </div>
  );
}

/** Helpful words for an empty list. */
export function Note({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <div className={css['note']}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry: () => void }) {
  const { message, requestId } = explain(error);
  return (
    <div className={css['note']} role="alert">
      <strong>{text.common.failed.title}</strong>
      <span>{message}</span>
      {requestId !== null && <small>{text.common.failed.request(requestId)}</small>}
      <Button onClick={retry}>{text.common.failed.retry}</Button>
    </div>
  );
}

/** Explains why an action is not offered. */
export function NotAllowed({ needed }: { needed: 'admin' | 'owner' }) {
  const { role } = useWorkspace();
  return (
    <Note title={text.common.notAllowed.title}>
      {text.common.notAllowed.text(text.common.roles[role], text.common.roles[needed])}
    </Note>
  );
}

/** A placeholder as long as this text, so that lines break in the same places. */
export function Unknown({ like }: { like: string }) {
  return (
    <span className={css['unknown']} aria-hidden="true">
      {like}
    </span>
  );
}

/** A placeholder as high as the content that is loading. */
export function Skeleton({ height, width = '100%' }: { height: number | string; width?: string }) {
  return <span className={css['skeleton']} style={{ height, width }} />;
}

export interface LoadedProps<T> {
  query: Answer<T>;
  /** Height of the content, in pixels or CSS, or an equally high element, so that nothing moves when it loads. */
  height: number | string | ReactElement;
  /** Other answers to wait for, if they can load: what they would move is drawn together with them. */
  with?: readonly Answer<unknown>[] | undefined;
  children: (data: T) => ReactNode;
}

/** The answer of a query, or a placeholder while there is none. If a refetch fails, the old answer stays. */
export function Loaded<T>({ query, height, with: others = [], children }: LoadedProps<T>) {
  const missing = [query, ...others].find(({ isError, data }) => isError && data === undefined);
  if (missing !== undefined) return <Failed error={missing.error} retry={() => void missing.refetch()} />;
  if (query.data !== undefined && !others.some(({ isPending }) => isPending)) return <>{children(query.data)}</>;
  return (
    <div role="status" aria-label={text.common.list.loading}>
      {typeof height === 'object' ? height : <Skeleton height={height} />}
    </div>
  );
}

/** How close a budget is to being used up; both in micros. */
export function budgetTone(spent: number, budget: number): Tone {
  if (spent >= budget) return 'bad';
  return spent >= 0.8 * budget ? 'warn' : 'calm';
}

/** The spent and the reserved part of a budget; both in micros. */
export function Meter({ spent, held, budget, label }: { spent: number; held: number; budget: number; label: string }) {
  const share = (part: number) => (budget === 0 ? 100 : Math.min(100, (part / budget) * 100));
  const spentShare = share(spent);
  return (
    <div className={css['meter']} role="img" aria-label={label} data-tone={budgetTone(spent, budget)}>
      <i style={{ width: `${spentShare}%` }} />
      <i data-held="true" style={{ width: `${Math.min(100 - spentShare, share(held))}%` }} />
    </div>
  );
}
