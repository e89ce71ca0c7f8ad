import { systemCause } from '@tollkeeper/contracts';
import { type Clock, mintToken } from '@tollkeeper/kernel';
import type { RequestCause } from './auth.use-cases.ts';
import { type InvitationStore, toInvitationUrl } from './invitation.ts';
import { invitationMail, type Mail, type MailOrder, resetMail } from './mail.ts';
import { mayUsePassword, type PasswordPolicy, passwordUserOf } from './password.policy.ts';
import type { PasswordResetStore } from './password-reset.ts';
import { issueReset, toResetUrl } from './password-reset.use-cases.ts';
import type { UserStore } from './user.ts';
import type { WorkspaceStore } from './workspace.ts';

export interface MailWriterDeps {
  users: UserStore;
  workspaces: Pick<WorkspaceStore, 'listOf'>;
  passwordPolicy: PasswordPolicy;
  resets: PasswordResetStore;
  invitations: InvitationStore;
  publicUrl: string;
  clock: Clock;
}

/** Makes the mail of an order, with a new link; null if there is no recipient, or nothing to report any more. */
export function createMailWriter(deps: MailWriterDeps) {
  const { users, workspaces, passwordPolicy, resets, invitations, publicUrl, clock } = deps;

  async function reset(email: string, request: RequestCause): Promise<Mail | null> {
    const user = await users.findByVerifiedEmail(email);
    if (user === null) return null;
    const account = { user, workspaces: await workspaces.listOf(user.id) };
    // Using the link would unlink the person's providers, for a password that does not let them in.
    if (!mayUsePassword(passwordPolicy, passwordUserOf(account))) return null;
    const cause = { ...systemCause('user.password.link', 'mail'), ...request };
    const { token, expiresAt } = await issueReset({ resets, clock }, user.id, cause, email);
    return resetMail(email, { loginName: user.loginName, url: toResetUrl(publicUrl, token), expiresAt });
  }

  /** With its own link, which proves the e-mail. The link that the owner saw does not. */
  async function invite(invitationId: string): Promise<Mail | null> {
    const { token, sha256 } = mintToken('invite');
    const offer = await invitations.addMailedToken(invitationId, sha256, new Date(clock()));
    if (offer === null) return null;
    const { email, role, expiresAt } = offer.invitation;
    return invitationMail(email, {
      slug: offer.workspace.slug,
      role,
      url: toInvitationUrl(publicUrl, token),
      expiresAt,
    });
  }

  return (order: MailOrder): Promise<Mail | null> => {
    switch (order.kind) {
      case 'reset':
        return reset(order.email, order.request);
      case 'invitation':
        return invite(order.invitationId);
    }
  };
}
