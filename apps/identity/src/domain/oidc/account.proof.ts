import { AppError, type Clock, digestOf } from '@tollkeeper/kernel';
import type { AuthUseCases } from '../auth.use-cases.ts';
import type { Admission } from './admission.ts';
import type { Entry } from './entry.ts';
import type { LinkStore, PassingStore, PendingLink } from './log-in.store.ts';
import { type Next, requestOf, type Visitor } from './visit.ts';

export interface AccountProofDeps {
  entry: Entry;
  admission: Pick<Admission, 'enterNew' | 'loggedIn'>;
  passing: Pick<PassingStore, 'findLink' | 'takeLink'>;
  links: Pick<LinkStore, 'link'>;
  auth: Pick<AuthUseCases, 'authenticate'>;
  clock: Clock;
}

/** What a person can do after the provider's log-in, while they still have to prove their account here. */
export interface AccountProof {
  /** Throws `not_found` if the link was used, belongs to another browser, or has expired. */
  findLink(id: string, visitor: Visitor): Promise<PendingLink>;
  /**
   * Links the person to the account with the given password, and logs them in. Throws as a log-in does; then it can be
   * tried again.
   */
  prove(id: string, visitor: Visitor, login: string, password: string): Promise<Next>;
  /** Creates an account for a person who has none. Throws `forbidden` if that is not allowed. */
  signUp(id: string, visitor: Visitor): Promise<Next>;
}

export function createAccountProof(deps: AccountProofDeps): AccountProof {
  const { entry, admission, passing, links, auth, clock } = deps;

  async function findLink(id: string, { browser }: Visitor): Promise<PendingLink> {
    return (browser !== null && (await passing.findLink(id, digestOf(browser), clock()))) || unknownLink();
  }

  async function takeLink(id: string, { browser }: Visitor): Promise<PendingLink> {
    return (browser !== null && (await passing.takeLink(id, digestOf(browser), clock()))) || unknownLink();
  }

  return {
    findLink,

    async prove(id, visitor, login, password) {
      await findLink(id, visitor);
      const { address, userAgent, requestId } = visitor;
      const request = { action: 'user.provider.link', address, userAgent, requestId } as const;
      const user = await auth.authenticate({ login, address }, password, request);
      const { arrival } = await takeLink(id, visitor);
      const by = requestOf(visitor, arrival.providerId);
      if (!(await links.link(arrival.person, user, new Date(clock()), by))) throw linkedAlready();
      await entry.applyGrants(arrival, user.id, by);
      const next = await admission.loggedIn(arrival, user.id, 'linked', visitor);
      return next ?? unknownLink();
    },

    async signUp(id, visitor) {
      const { mayBeNew } = await findLink(id, visitor);
      if (!mayBeNew) throw new AppError('forbidden', 'New accounts require an invitation. Ask an owner for one.');
      const { arrival } = await takeLink(id, visitor);
      if (!(await entry.signUp(arrival.person))) throw linkedAlready();
      return (await admission.enterNew(arrival, visitor)) ?? unknownLink();
    },
  };
}

function unknownLink(): never {
  throw new AppError('not_found', 'This login has expired. Log in again.');
}

function linkedAlready(): AppError {
  return new AppError('conflict', 'You already have an account. Log in again to use it.');
}
