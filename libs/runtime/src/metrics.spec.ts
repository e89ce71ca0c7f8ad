import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.ts';
import { createMetrics, lookedUpGauge, renderMetrics } from './metrics.ts';

describe('a gauge that is looked up', () => {
  function setUp() {
    const lines: string[] = [];
    const logger = createLogger({
      service: 'test',
      level: 'warn',
      destination: { write: (line) => void lines.push(line) },
    });
    const metrics = createMetrics('test');
    metrics.counter({ name: 'others_total', help: 'Others' }).inc();
    const render = () => renderMetrics([metrics.registry]);
    return { lines, logger, metrics, render };
  }

  it('shows what the look-up answers at each time that it is read', async () => {
    const { metrics, logger, render } = setUp();
    let value = 3;
    lookedUpGauge(metrics, { name: 'depth', help: 'Depth', lookUp: async () => value, logger });
    expect(await render()).toContain('depth{service="test"} 3\n');
    value = 5;
    expect(await render()).toContain('depth{service="test"} 5\n');
  });

  it('is left out while the look-up fails, with a warning, and keeps no other metric from being read', async () => {
    const { metrics, logger, lines, render } = setUp();
    let away = true;
    const lookUp = async () => {
      if (away) throw new Error('the database is down');
      return 7;
    };
    lookedUpGauge(metrics, { name: 'depth', help: 'Depth', lookUp, logger });
    for (away of [true, false, true]) {
      const page = await render();
      expect(page).toContain('others_total{service="test"} 1\n');
      expect(page.match(/^depth{.*/gm)).toEqual(away ? null : ['depth{service="test"} 7']);
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('the database is down');
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'warn', metric: 'depth' });
  });

  it('is looked up at the same time as the others', async () => {
    const { metrics, logger, render } = setUp();
    const first = Promise.withResolvers<number>();
    const second = Promise.withResolvers<number>();
    const lookUp = (own: typeof first, other: typeof second) => () => {
      own.resolve(1);
      return other.promise;
    };
    lookedUpGauge(metrics, { name: 'one', help: 'One', lookUp: lookUp(first, second), logger });
    lookedUpGauge(metrics, { name: 'two', help: 'Two', lookUp: lookUp(second, first), logger });
    expect(await render()).toContain('two{service="test"} 1\n');
  });
});
