import { useState } from 'react';
import { useSpan } from '../app/span.ts';
import { datesProblem, MORE_RANGES, type Range, RANGES } from '../app/span-search.ts';
import { text } from '../text/index.ts';
import { useToday } from './now.ts';
import { Segments } from './parts.tsx';
import css from './ui.module.css';

const words = text.common;

/** Chooses the page's span, which is part of the URL. */
export function SpanBar() {
  const { range, dates, set } = useSpan();
  const choose = (next: Range) => set({ range: next, ...(next === 'dates' && dates) });
  const isFurther = MORE_RANGES.some((each) => each === range);
  return (
    <div className={css['span']}>
      <Segments
        label={words.range.label}
        value={range}
        options={RANGES.map((each) => [each, words.range[each]] as const)}
        onChange={choose}
      />
      <select
        aria-label={words.range.more}
        value={isFurther ? range : ''}
        data-chosen={isFurther}
        onChange={({ target }) => choose(MORE_RANGES.find((each) => each === target.value) ?? range)}
      >
        {!isFurther && <option value="">{words.range.more}</option>}
        {MORE_RANGES.map((each) => (
          <option key={each} value={each}>
            {words.range[each]}
          </option>
        ))}
      </select>
      {range === 'dates' && <Dates />}
    </div>
  );
}

/** The first and the last day, of which only a span gets into the URL. */
function Dates() {
  const { dates, zone, set } = useSpan();
  const today = useToday(zone);
  const [draft, setDraft] = useState<typeof dates | null>(null);
  const { start, end } = draft ?? dates;
  const problem = datesProblem(start, end);
  const change = (next: typeof dates) => {
    // Kept also if it is a span: a browser forgets a half-typed date if the value changes.
    setDraft(next);
    if (datesProblem(next.start, next.end) === null) set(next);
  };
  return (
    <span className={css['days']} onBlur={() => problem === null && setDraft(null)}>
      <input
        type="date"
        max={today}
        aria-label={words.range.start}
        aria-invalid={problem !== null}
        value={start}
        onChange={({ target }) => change({ start: target.value, end })}
      />
      <span aria-hidden="true">–</span>
      <input
        type="date"
        max={today}
        aria-label={words.range.end}
        aria-invalid={problem !== null}
        value={end}
        onChange={({ target }) => change({ start, end: target.value })}
      />
      <span className={css['problem']} role="status">
        {problem !== null && words.range.problems[problem]}
      </span>
    </span>
  );
}
