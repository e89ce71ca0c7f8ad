import { type ComponentProps, Suspense } from 'react';
import { RunUpBars } from '../../app/later.ts';
import { ChartSpace } from '../../charts/stacked-bars.tsx';

/** {@link RunUpBars}, or an equally high placeholder until their code is loaded. */
export function RunUpChart(props: ComponentProps<typeof RunUpBars>) {
  return (
    <Suspense fallback={<ChartSpace named={props.series.length > 1} />}>
      <RunUpBars {...props} />
    </Suspense>
  );
}
