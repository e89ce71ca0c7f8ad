import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type Role, type TenantId } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { AttemptLimiter } from './attempt.limiter.ts';
import type { RequestCause } from './auth.use-cases.ts';
import { digestOf } from './digest.ts';
import { INVITATION_MS, type Invitation, type InvitationStore, type Offer } from './invitation.ts';
import type { Mailing } from './mail.ts';
import { mintToken } from './one-time-token.ts';
import type { PasswordHasher } from './password.hasher.ts';
import { mayUsePassword, type PasswordPolicy, passwordsAreOff } from './password.policy.ts';
import { mintSession, type SessionOrigin, type SessionStore } from './session.ts';

/** What a person without an account says to get one. */
interface SignUp {
  name: string;
  password: string;
  /** Null to get one that is free. */
  loginName: string | null;
}

/** A new invitation. Its token is known at this moment only. */
export interface NewInvitation {
  invitation: Invitation;
  token: string;
  /** A link is mailed to the e-mail, too, unless it has had too many within the hour. */
  mailed: boolean;
}

/** Changes throw `forbidden` when `ownerId` is no owner any more. */
export interface InvitationUseCases {
  /** Those that can still be accepted, newest first. */
  list(tenantId: TenantId): Promise<Invitation[]>;
  /** Throws `conflict`. Where there is a mail server, a link is mailed too. */
  invite(
    tenantId: TenantId,
    ownerId: string,
    offer: { email: string; role: Role },
    cause: Cause,
  ): Promise<NewInvitation>;
  /** Throws `not_found`. */
  revoke(tenantId: TenantId, ownerId: string, invitationId: string, cause: Cause): Promise<void>;
  /** Throws `not_found` for every token that offers nothing, and then `rate_limited` by address. */
  find(token: string, address: string): Promise<Offer>;
  /** A user joins with their account. Throws as `find` does, and `conflict`. */
  join(token: string, address: string, userId: string, cause: Cause): Promise<Account>;
  /** A person joins with a new account, and has a session. Throws as `join` does, and `forbidden` by the policy. */
  signUp(
    token: string,
    origin: SessionOrigin,
    signUp: SignUp,
    request: RequestCause,
  ): Promise<Account & { cookie: string }>;
}

export interface InvitationDeps {
  invitations: InvitationStore;
  sessions: SessionStore;
  hasher: PasswordHasher;
  limiter: AttemptLimiter;
  passwordPolicy: PasswordPolicy;
  mailing: Mailing | null;
  clock: Clock;
}

export function createInvitationUseCases(deps: InvitationDeps): InvitationUseCases {
  const { invitations, sessions, hasher, limiter, passwordPolicy, mailing, clock } = deps;
  const now = () => new Date(clock());

  async function find(token: string, address: string): Promise<Offer> {
    await limiter.requireAllowed({ address });
    const offer = await invitations.findOffer(digestOf(token), now());
    if (offer !== null) return offer;
    await limiter.recordFailure({ address });
    return notValid();
  }

  /** The owner has the link to share, so they need no mail to invite. */
  async function mail({ id, email, invitedBy, createdAt }: Invitation): Promise<boolean> {
    if (mailing === null) return false;
    const { queue, limiter: mailLimiter } = mailing;
    const refusal = await mailLimiter.count({ kind: 'invitation', to: email, by: { userId: invitedBy } });
    // The limit of an e-mail would tell that others invite it, too.
    if (refusal !== null) return refusal.limit === 'to';
    const isQueued = await queue.add({ kind: 'invitation', invitationId: id }, createdAt);
    if (!isQueued) await mailLimiter.giveBack({ kind: 'invitation', to: email });
    return isQueued;
  }

  return {
    find,

    list: (tenantId) => invitations.list(tenantId, now()),

    async invite(tenantId, ownerId, { email, role }, cause) {
      const { token, sha256 } = mintToken('invite');
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + INVITATION_MS);
      const made = { id: newId('inv'), tenantId, email, role, invitedBy: ownerId, createdAt, expiresAt };
      await invitations.add(tenantId, ownerId, made, sha256, cause);
      return { invitation: made, token, mailed: await mail(made) };
    },

    async revoke(tenantId, ownerId, invitationId, cause) {
      if (await invitations.remove(tenantId, ownerId, invitationId, cause)) return;
      throw new AppError('not_found', 'This workspace has no open invitation with that id.');
    },

    async join(token, address, userId, cause) {
      await find(token, address);
      return (await invitations.accept(digestOf(token), { userId }, now(), cause)) ?? notValid();
    },

    async signUp(token, origin, { name, password, loginName }, request) {
      // Looked at first, so that only who has an invitation costs the hash of a password.
      const { invitation } = await find(token, origin.address);
      if (!mayUsePassword(passwordPolicy, { names: [], roles: [invitation.role] }))
        throw passwordsAreOff(passwordPolicy);
      const passwordHash = await hasher.hash(password);
      const newUser = { id: newId('user'), loginName, name, passwordHash, createdAt: now() };
      const cause: Cause = { ...request, actor: { type: 'user', id: newUser.id, name } };
      const account = (await invitations.accept(digestOf(token), { newUser }, now(), cause)) ?? notValid();
      const { cookie, session } = mintSession(newUser.id, clock(), origin);
      await sessions.open(session, passwordHash, { ...cause, action: 'session.create' });
      return { ...account, cookie };
    },
  };
}

/** The same for a token that was never there, has expired, or was used, revoked or replaced. */
function notValid(): never {
  throw new AppError(
    'not_found',
    'This invitation is not valid: it was used, revoked or replaced, or it has expired. Ask an owner for a new one.',
  );
}
