import type { AuditTrail } from '@tollkeeper/audit-trail';
import { type AuditAction, type Cause, systemCause } from '@tollkeeper/contracts';
import type { Role } from '@tollkeeper/kernel';
import type { ClientSession } from 'mongoose';
import { AUDITED_MEMBER, type MembershipSource } from '../domain/member.ts';
import { changeMember, insertMember, type MemberChange } from './membership.ts';
import type { IdentityModels } from './models.ts';

/** A role that a rule gives a user, or null to end the membership. */
export interface RuledRole extends Pick<MemberChange, 'tenantId' | 'userId' | 'decide'> {
  role: Role | null;
  source: MembershipSource;
  at: Date;
  /** Which part of Tollkeeper applies the rule, for the audit log, and for whose request. */
  component: string;
  request: Pick<Cause, 'address' | 'userAgent' | 'requestId'>;
}

/** Changes the member as `decide` says, or adds one, within the serialized changes of the workspace. */
export async function applyRole(
  models: IdentityModels,
  trail: AuditTrail,
  session: ClientSession,
  { tenantId, userId, role, source, decide, at, component, request }: RuledRole,
): Promise<void> {
  const { address, userAgent, requestId } = request;
  const by = (action: AuditAction): Cause => ({ ...systemCause(action, component), address, userAgent, requestId });
  const cause = by(role === null ? 'member.remove' : 'member.role.change');
  const known = await changeMember(models, trail, { tenantId, userId, decide, cause }, session);
  if (known !== null || role === null) return;
  await insertMember(models, { tenantId, userId, role, joinedAt: at, source }, session);
  const user = await models.users.findById(userId, { name: 1 }, { session }).lean();
  const target = { type: 'member', id: userId, name: user?.name ?? '' };
  const changed = { target, fields: AUDITED_MEMBER, before: null, after: { role } };
  await trail.recordChange(session, tenantId, by('member.add'), changed);
}
