import { describe, expect, it } from '@jest/globals';
import type { Role } from '@tollkeeper/kernel';
import { type Member, noOwner, requireOwnerLeft } from './member.ts';

const memberAs = (role: Role): Member => ({
  ...{ userId: 'user_1', loginName: 'ada', name: 'Ada', email: 'ada@example.com', emailVerified: false },
  ...{ role, source: 'manual', joinedAt: new Date(0) },
});

describe('a workspace', () => {
  it('never loses its last owner', () => {
    expect(() => requireOwnerLeft(memberAs('owner'), 0)).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: expect.stringContaining('Make another person owner first'),
      }),
    );
  });

  it.each([
    ['an owner while another is left', 'owner', 1],
    ['a member', 'member', 0],
    ['an admin', 'admin', 0],
  ] as const)('lets go %s', (_who, role, otherOwners) => {
    expect(() => requireOwnerLeft(memberAs(role), otherOwners)).not.toThrow();
  });
});

describe('who is no owner any more', () => {
  it('is forbidden the change, and learns who can make it', () => {
    expect(noOwner()).toMatchObject({ code: 'forbidden', message: expect.stringContaining('Ask an owner') });
  });
});
