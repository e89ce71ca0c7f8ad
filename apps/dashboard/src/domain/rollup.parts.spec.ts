import { describe, expect, it } from '@jest/globals';
import { MAX_PARTS, partOf, PARTS_GROWTH } from './rollup.parts.ts';

describe('the part of an agent', () => {
  it('stays what it is, since stored roll-ups depend on it', () => {
    const agents = ['', 'a', 'planner', 'agent-ü'];
    expect(agents.map((agent) => partOf(agent, MAX_PARTS))).toEqual([4092, 308, 1500, 3441]);
  });

  it('is one of those that its part is divided into when the parts grow', () => {
    const agents = Array.from({ length: 200 }, (_, index) => `agent-${index}`);
    for (let parts = 1; parts < MAX_PARTS; parts *= PARTS_GROWTH) {
      const before = agents.map((agent) => partOf(agent, parts));
      expect(agents.map((agent) => partOf(agent, parts * PARTS_GROWTH) % parts)).toEqual(before);
    }
  });

  it('differs among agents that are named alike, so that parts are alike in size', () => {
    const agents = Array.from({ length: 4_000 }, (_, index) => `agent-${index}`);
    const sizes = [...Map.groupBy(agents, (agent) => partOf(agent, 4)).values()].map(({ length }) => length);
    expect(sizes).toHaveLength(4);
    expect(Math.max(...sizes)).toBeLessThan(1_200);
  });
});
