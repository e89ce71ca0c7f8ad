import type { AuditTrail } from '@tollkeeper/audit-trail';
import { type AuditAction } from '@tollkeeper/contracts';
import { digestOf, newId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn, isDuplicateKey } from '@tollkeeper/mongo';
import type { ClientSession } from 'mongoose';
import type { LogInRequest } from '../domain/oidc/log-in.store.ts';
import type { MachineArrival, MachineStore } from '../domain/oidc/machine.ts';
import { TokenRefusal } from '../domain/oidc/token.refusal.ts';
import type { AccountTrail } from './account.trail.ts';
import { serializeMembers } from './membership.ts';
import type { IdentityModels } from './models.ts';
import { applyRole } from './role.ts';
import { fromUser } from './user.store.ts';

/** If another replica uses the same token at the same time, the second attempt finds it used. */
const MAX_ATTEMPTS = 2;

export function createMachineStore(models: IdentityModels, trail: AuditTrail, accounts: AccountTrail): MachineStore {
  const { connection, users, workspaces, sessions } = models;
  const { usedTokens } = models.oidc;

  async function tenantOf({ rule: { workspace } }: MachineArrival): Promise<TenantId | null> {
    return (await workspaces.findOne({ slug: workspace }, { _id: 1 }).lean())?._id ?? null;
  }

  async function useUp({ token: { sha256: _id, forgettableAt } }: MachineArrival, tx: ClientSession): Promise<void> {
    if ((await usedTokens.exists({ _id }).session(tx)) !== null) throw new TokenRefusal('token_replayed');
    await usedTokens.create([{ _id, expiresAt: forgettableAt }], { session: tx });
  }

  /** The user of the service account, created at its first log-in. */
  async function userOf(arrival: MachineArrival, tenantId: TenantId, at: Date, tx: ClientSession): Promise<string> {
    const serviceAccountKey = keyOf(arrival, tenantId);
    const { provider, rule, token } = arrival;
    const { id: providerId, issuer } = provider;
    const serviceAccount = { issuer, account: rule.account, providerId, subject: token.subject };
    const known = await users
      .findOneAndUpdate({ serviceAccountKey }, { $set: { serviceAccount } }, { session: tx, projection: { _id: 1 } })
      .lean();
    if (known !== null) return known._id;
    const id = newId('user');
    const user = fromUser({
      // With a colon, so that no person can have it.
      ...{ id, loginName: `service-account:${id}`, name: rule.account, serviceAccount },
      ...{ email: null, emailVerified: false, passwordHash: null, createdAt: at },
    });
    await users.create([{ ...user, serviceAccountKey }], { session: tx });
    return id;
  }

  function record(
    tx: ClientSession,
    userId: string,
    action: AuditAction,
    { arrival, by }: { arrival: MachineArrival; by: LogInRequest },
    facts: Record<string, string> = {},
  ): Promise<void> {
    const { providerId, ...request } = by;
    const details = Object.entries({ provider: providerId, subject: arrival.token.subject, ...facts });
    const changes = details.map(([field, to]) => ({ field, from: null, to }));
    return accounts.record(tx, userId, { action, ...request }, changes);
  }

  return {
    async enter(arrival, { sha256, ...fields }, at, by) {
      const tenantId = await tenantOf(arrival);
      const { role, workspace } = arrival.rule;
      if (tenantId === null) throw new TokenRefusal('workspace_unknown', { workspace });
      const attempt = () =>
        changeInTurn(connection, tenantId, async (tx) => {
          await serializeMembers(models, tenantId, tx);
          await useUp(arrival, tx);
          const userId = await userOf(arrival, tenantId, at, tx);
          await applyRole(models, trail, tx, {
            ...{ tenantId, userId, role, source: 'machine', decide: () => role, at },
            ...{ component: 'machine-login', request: by },
          });
          await sessions.create([{ _id: sha256, userId, ...fields }], { session: tx });
          await record(tx, userId, 'session.create', { arrival, by });
          return userId;
        });
      for (let count = 1; ; count += 1) {
        try {
          return await attempt();
        } catch (error) {
          if (!isDuplicateKey(error) || count === MAX_ATTEMPTS) throw error;
        }
      }
    },

    async recordRefusal(arrival, reason, by) {
      const tenantId = await tenantOf(arrival);
      if (tenantId === null) return;
      await changeInTurn(connection, tenantId, async (tx) => {
        const serviceAccountKey = keyOf(arrival, tenantId);
        const known = await users.findOne({ serviceAccountKey }, { _id: 1 }, { session: tx }).lean();
        if (known !== null) await record(tx, known._id, 'session.refuse', { arrival, by }, { reason });
      });
    },
  };
}

function keyOf({ provider: { issuer }, rule: { account } }: MachineArrival, tenantId: TenantId): string {
  return digestOf(JSON.stringify([tenantId, issuer, account]));
}
