import { describe, expect, it } from '@jest/globals';
import { identityService, type SessionMessage, toWireRole } from '@tollkeeper/contracts';
import { tokenKey, verifyCallerToken } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { createSessionDirectory } from './session.directory.ts';

const secret = 'a-secret-of-more-than-32-characters!';
const cookie = 'c'.repeat(43);
type MembershipMessage = SessionMessage['memberships'][number];
const memberships: MembershipMessage[] = [
  { tenantId: 'ws_1', slug: 'one', role: toWireRole('owner') },
  { tenantId: 'ws_2', slug: 'two', role: toWireRole('member') },
];

function setUp({ cacheMs = 5_000 } = {}) {
  const state = {
    nowMs: 1_000,
    asked: [] as Buffer[],
    requests: [] as unknown[],
    valid: true,
    hold: Promise.resolve(),
    down: false,
    memberships,
  };
  const directory = createSessionDirectory({
    tokenKey: tokenKey(secret),
    cacheMs,
    now: () => state.nowMs,
    identity: {
      async resolveSession({ sessionSha256 }, call) {
        state.asked.push(sessionSha256 as Buffer);
        state.requests.push(call);
        await state.hold;
        if (state.down) throw new AppError('upstream_timeout', 'too slow');
        const { memberships } = state;
        const session = { userId: 'user_1', userName: 'Ada', memberships };
        return { session: state.valid ? session : null };
      },
    },
  });
  return {
    state,
    resolve: () => directory.resolve(cookie, 'request-1'),
    resolveAnew: () => directory.resolveAnew(cookie, 'request-1'),
    forget: () => directory.forget(cookie),
    directory,
  };
}

/** A membership as a client decodes it, with a number of a role that its enumeration does not have. */
function ofNewRole(slug: string): MembershipMessage {
  const { responseSerialize, responseDeserialize } = identityService.ResolveSession;
  const membership = { tenantId: 'ws_3', slug, role: toWireRole('owner') };
  const bytes = responseSerialize({ session: { memberships: [membership] } });
  // Nothing comes after the role.
  bytes[bytes.length - 1] = 9;
  const [decoded] = responseDeserialize(bytes).session?.memberships ?? [];
  expect(decoded).toEqual({ ...membership, role: 9 });
  return decoded!;
}

describe('createSessionDirectory', () => {
  it('sends identity the SHA-256 of the cookie and never the cookie', async () => {
    const { state, resolve } = setUp();
    const session = await resolve();
    expect(session).toMatchObject({
      userId: 'user_1',
      name: 'Ada',
      memberships: [
        { slug: 'one', role: 'owner' },
        { slug: 'two', role: 'member' },
      ],
    });
    expect(state.asked[0]?.toString('hex')).toMatch(/^[0-9a-f]{64}$/);
    expect(state.asked[0]?.toString()).not.toContain('ccc');
    expect(state.requests).toEqual([{ requestId: 'request-1', deadlineMs: 5_000 }]);
  });

  it('leaves out a membership whose role it does not know, and knows the others', async () => {
    const { state, resolve } = setUp();
    state.memberships = [ofNewRole('three'), ...memberships];
    expect((await resolve())?.memberships.map(({ slug }) => slug)).toEqual(['one', 'two']);
  });

  it('uses an answer for 5 seconds from the question, and no longer', async () => {
    const { state, resolve } = setUp();
    await resolve();
    state.valid = false;
    state.nowMs += 5_000;
    expect(await resolve()).not.toBeNull();
    state.nowMs += 1;
    expect(await resolve()).toBeNull();
  });

  it('counts the 5 seconds from the question though the answer came late', async () => {
    const { state, resolve } = setUp();
    const answer = Promise.withResolvers<void>();
    state.hold = answer.promise;
    const first = resolve();
    state.nowMs += 4_000;
    answer.resolve();
    await first;
    state.nowMs += 1_001;
    await resolve();
    expect(state.asked).toHaveLength(2);
  });

  it('keeps the answer that a session is not valid, too', async () => {
    const { state, resolve } = setUp();
    state.valid = false;
    expect([await resolve(), await resolve()]).toEqual([null, null]);
    expect(state.asked).toHaveLength(1);
  });

  it('makes one question of all that are asked about a session at once', async () => {
    const { state, resolve } = setUp();
    const answers = await Promise.all(Array.from({ length: 50 }, resolve));
    expect(new Set(answers).size).toBe(1);
    expect(state.asked).toHaveLength(1);
  });

  it('asks again after forget, also when an older question is still open', async () => {
    const { state, resolve, forget } = setUp();
    const answer = Promise.withResolvers<void>();
    state.hold = answer.promise;
    const before = resolve();
    forget();
    state.hold = Promise.resolve();
    state.valid = false;
    expect(await resolve()).toBeNull();
    answer.resolve();
    await before;
    expect(await resolve()).toBeNull();
  });

  it('throws service_unavailable while identity cannot be asked, and does not keep that', async () => {
    const { state, resolve } = setUp();
    state.down = true;
    await expect(resolve()).rejects.toMatchObject({
      code: 'service_unavailable',
      message: 'Sessions cannot be checked right now. Try again shortly.',
      retryAfterSeconds: 2,
    });
    state.down = false;
    expect(await resolve()).not.toBeNull();
  });

  it('asks again when required, whatever it knows and whatever is being asked already', async () => {
    const { state, resolve, resolveAnew } = setUp();
    await resolve();
    state.valid = false;
    expect(await Promise.all([resolveAnew(), resolveAnew()])).toEqual([null, null]);
    expect(state.asked).toHaveLength(3);
  });

  it('asks twice at most for all who ask anew at the same time, and none gets an answer from before', async () => {
    const { state, resolveAnew } = setUp();
    const first = resolveAnew().then((session) => {
      state.valid = false;
      return session;
    });
    const later = Array.from({ length: 50 }, () => resolveAnew());
    expect(await first).not.toBeNull();
    expect(new Set(await Promise.all(later))).toEqual(new Set([null]));
    expect(state.asked).toHaveLength(2);
    state.valid = true;
    expect(await resolveAnew()).not.toBeNull();
    expect(state.asked).toHaveLength(3);
  });

  it('asks anew behind a question that failed', async () => {
    const { state, resolveAnew } = setUp();
    state.down = true;
    const first = resolveAnew().finally(() => (state.down = false));
    const second = resolveAnew();
    await expect(first).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await second).not.toBeNull();
  });

  it('continues with what it knows when it cannot ask anew', async () => {
    const { state, resolve, resolveAnew } = setUp();
    await resolve();
    state.down = true;
    await expect(resolveAnew()).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 2 });
    expect(await resolve()).not.toBeNull();
  });

  it('asks nothing about what cannot be a session', async () => {
    const { state, directory } = setUp();
    for (const odd of ['', 'x', 'c'.repeat(42), 'c'.repeat(44), `${'c'.repeat(42)}=`, `${'c'.repeat(42)} `]) {
      expect(await directory.resolve(odd, 'request-1')).toBeNull();
      expect(await directory.resolveAnew(odd, 'request-1')).toBeNull();
    }
    expect(state.asked).toEqual([]);
  });

  it('asks each time when nothing is to be kept', async () => {
    const { state, resolve } = setUp({ cacheMs: 0 });
    await resolve();
    await resolve();
    expect(state.asked).toHaveLength(2);
  });

  it('signs the caller once for each service and workspace, as what the caller is there', async () => {
    const { resolve } = setUp();
    const session = await resolve();
    const [one, two] = session?.memberships ?? [];
    if (session === null || one === undefined || two === undefined) throw new Error('no session');
    expect(session.callerToken('keys', one)).toBe(session.callerToken('keys', one));
    expect(await verifyCallerToken(secret, 'keys', await session.callerToken('keys', two))).toEqual({
      userId: 'user_1',
      name: 'Ada',
      tenantId: 'ws_2',
      role: 'member',
    });
    expect(await verifyCallerToken(secret, 'identity', await session.callerToken('identity', null))).toEqual({
      userId: 'user_1',
      name: 'Ada',
      tenantId: null,
      role: null,
    });
    await expect(verifyCallerToken(secret, 'budgets', await session.callerToken('keys', one))).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });
});
