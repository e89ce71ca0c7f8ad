import { RANGES, useSpan } from '../app/span.ts';
import { text } from '../text/index.ts';
import { Segments } from './parts.tsx';

/** Chooses the page's span, which is part of the URL. */
export function SpanBar() {
  const { range, set } = useSpan();
  return (
    <Segments
      label={text.common.range.label}
      value={range}
      options={RANGES.map((each) => [each, text.common.range[each]] as const)}
      onChange={(next) => set({ range: next })}
    />
  );
}
