import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { planAssignment, type GroupView } from './assignment.ts';

const groups = fc
  .record({ living: fc.integer({ min: 1, max: 6 }), partitions: fc.integer({ min: 1, max: 16 }) })
  .chain(({ living, partitions }) => {
    const members = Array.from({ length: living }, (_, index) => `member-${index}`);
    const owner = fc.option(fc.constantFrom(...members, 'dead-1', 'dead-2'), { nil: null });
    return fc.record({
      members: fc.shuffledSubarray(members, { minLength: living, maxLength: living }),
      owners: fc.array(owner, { minLength: partitions, maxLength: partitions }),
    });
  });

/** Each member in turn carries out its plan, as on heartbeats. */
function takeTurns(group: GroupView, rounds: number): GroupView {
  const owners = [...group.owners];
  for (let turn = 0; turn < rounds * group.members.length; turn += 1) {
    const member = group.members[turn % group.members.length] ?? '';
    const { claim, surrender } = planAssignment({ members: group.members, owners }, member);
    for (const partition of surrender) owners[partition] = null;
    for (const partition of claim) owners[partition] = member;
  }
  return { members: group.members, owners };
}

describe('the assignment of partitions', () => {
  it('gives every partition a living owner and shares that differ by at most one, within two rounds', () => {
    fc.assert(
      fc.property(groups, (group) => {
        const { members, owners } = takeTurns(group, 2);
        const shares = members.map((member) => owners.filter((owner) => owner === member).length);
        expect(shares.reduce((total, share) => total + share, 0)).toBe(owners.length);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      }),
      { seed: 20_261_121, numRuns: 2_000 },
    );
  });

  it('takes nothing from a living member and moves nothing once it is fair', () => {
    fc.assert(
      fc.property(groups, (group) => {
        for (const member of group.members) {
          const { claim } = planAssignment(group, member);
          expect(claim.filter((partition) => group.members.includes(group.owners[partition] ?? ''))).toEqual([]);
        }
        const settled = takeTurns(group, 2);
        for (const member of settled.members) {
          expect(planAssignment(settled, member)).toEqual({ claim: [], surrender: [] });
        }
      }),
      { seed: 20_261_121, numRuns: 2_000 },
    );
  });
});
