import { describe, expect, it } from '@jest/globals';
import type { Load } from './load.ts';
import { createReport } from './report.ts';

const quiet = () => undefined;

function loadThatSaw(failed: { what: string; status: number; text: string }[]): Load {
  const takes = [
    { sent: 3, failed: [] },
    { sent: 9, failed },
  ];
  return { take: () => takes.shift() ?? { sent: 0, failed: [] }, stop: async () => 0 };
}

describe('the report of a cluster', () => {
  it('counts what failed while something was done, by what was answered, and nothing of before', async () => {
    const report = createReport(quiet);
    report.watch(
      loadThatSaw([
        { what: 'event', status: 503, text: '' },
        { what: 'event', status: 0, text: 'ECONNREFUSED' },
        { what: '/alerts/rules', status: 503, text: '' },
      ]),
    );
    await report.measure('roll-out', 'keys', async () => undefined);
    expect(report.toString()).toContain('| roll-out | keys | done | 0 s | 9 | 2 × 503, 1 × no answer |');
    expect(report.complete).toBe(true);
  });

  it('continues after something that failed, says why, and is not complete', async () => {
    const report = createReport(quiet);
    await report.measure('eviction', 'kafka', async () => {
      throw new Error('Waited 240 s in vain for kafka to be ready');
    });
    await report.measure('eviction', 'mongodb', async () => undefined);
    expect(report.toString()).toContain(
      '| eviction | kafka | **failed**: Waited 240 s in vain for kafka to be ready |',
    );
    expect(report.toString()).toContain('| eviction | mongodb | done |');
    expect(report.complete).toBe(false);
  });
});
