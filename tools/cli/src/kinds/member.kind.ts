import type { MemberEntry } from '../files/document.ts';
import type { Kind } from './kind.ts';

const INVITED = 'invitation:';

/** Members and open invitations, by e-mail. Whoever runs the command stays what they are. */
export const memberKind: Kind<MemberEntry> = {
  section: 'members',
  keyField: 'email',
  async read({ api, account }) {
    const members = await api.call('GET /api/v1/members');
    const invitations = await api.call('GET /api/v1/invitations');
    return [
      ...members.items.map(({ user_id, email, role }) => ({
        ...{ key: email.toLowerCase(), id: user_id, value: { role } },
        ...(user_id === account.user.id && { isKept: true, fixed: 'it is you. Ask another owner to change your role' }),
      })),
      ...invitations.items.map(({ id, email, role }) => ({
        ...{ key: email.toLowerCase(), id: `${INVITED}${id}`, value: { role } },
      })),
    ];
  },
  desired: (_workspace, { role }) => ({ role }),
  exported: ({ key, value }) => ({ email: key, ...value }),
  // Its link is not shown: it lets anyone in. Tollkeeper sends another one by e-mail.
  async create({ api }, body) {
    const { id } = await api.call('POST /api/v1/invitations', { body });
    return `${INVITED}${id}`;
  },
  update({ api }, { id }, { email, role }) {
    // A new invitation replaces the one for the same e-mail.
    if (id.startsWith(INVITED)) return api.call('POST /api/v1/invitations', { body: { email, role } });
    return api.call('PATCH /api/v1/members/{user_id}', { path: { user_id: id }, body: { role } });
  },
  remove({ api }, { id }) {
    if (!id.startsWith(INVITED)) return api.call('DELETE /api/v1/members/{user_id}', { path: { user_id: id } });
    const path = { invitation: id.slice(INVITED.length) };
    return api.call('DELETE /api/v1/invitations/{invitation}', { path });
  },
};
