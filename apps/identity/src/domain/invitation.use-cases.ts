import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, digestOf, mintToken, newId, type Role, type TenantId } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { AttemptLimiter } from './attempt.limiter.ts';
import type { RequestCause } from './auth.use-cases.ts';
import { INVITATION_MS, type Invitation, type InvitationStore, type Offer } from './invitation.ts';
import type { Mailing } from './mail.ts';
import type { PasswordHasher } from './password.hasher.ts';
import { mayUsePassword, type PasswordPolicy, passwordsAreOff } from './password.policy.ts';
import { mintSession, type SessionOrigin, type SessionStore } from './session.ts';

/** What a person enters to get an account. */
interface SignUp {
  name: string;
  password: string;
  /** Null to get a free one. */
  loginName: string | null;
}

/** A new invitation. This is the only time that its token is known. */
export interface NewInvitation {
  invitation: Invitation;
  token: string;
  /** Whether a link is also mailed to the e-mail. It is not if the e-mail had too many mails within the hour. */
  mailed: boolean;
}

/** Changes throw `forbidden` if `ownerId` is no longer an owner. */
export interface InvitationUseCases {
  /** The open invitations, newest first. */
  list(tenantId: TenantId): Promise<Invitation[]>;
  /** Throws `conflict`. With a mail server, a link is also mailed. */
  invite(
    tenantId: TenantId,
    ownerId: string,
    offer: { email: string; role: Role },
    cause: Cause,
  ): Promise<NewInvitation>;
  /** Throws `not_found`. */
  revoke(tenantId: TenantId, ownerId: string, invitationId: string, cause: Cause): Promise<void>;
  /** Throws `not_found` for every token that is not valid, and then `rate_limited` by address. */
  find(token: string, address: string): Promise<Offer>;
  /** Adds a user with an existing account. Throws as `find` does, and `conflict`. */
  join(token: string, address: string, userId: string, cause: Cause): Promise<Account>;
  /**
   * Adds a person with a new account and opens a session. Throws as `join` does, and `forbidden` by the password
   * policy.
   */
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

  /** The owner can share the link, so inviting does not depend on mail. */
  async function mail({ id, email, invitedBy, createdAt }: Invitation): Promise<boolean> {
    if (mailing === null) return false;
    const { queue, limiter: mailLimiter } = mailing;
    const refusal = await mailLimiter.count({ kind: 'invitation', to: email, by: { userId: invitedBy } });
    // An e-mail's limit must stay hidden, because it would reveal invitations by others.
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
      // Checked first, so that only holders of an invitation can cause a password hash.
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

/** The same error for tokens that never existed, expired, or were used, revoked or replaced. */
function notValid(): never {
  throw new AppError(
    'not_found',
    'This invitation is not valid: it was used, revoked or replaced, or it has expired. Ask an owner for a new one.',
  );
}
