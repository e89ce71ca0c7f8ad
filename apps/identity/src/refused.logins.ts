import { withTransaction } from '@tollkeeper/mongo';
import type { Component, Logger, Metrics } from '@tollkeeper/runtime';
import type { AuthDeps } from './domain/auth.use-cases.ts';
import type { AccountTrail } from './store/account.trail.ts';
import type { IdentityModels } from './store/models.ts';

/**
 * Reports failed log-ins to the audit log, if the account is known, and to a metric. No answer waits for it, because
 * the time would reveal whether the account exists. `stop` waits for reports in progress; `kill -9` may lose them.
 */
export function createRefusedLogins(deps: {
  models: IdentityModels;
  accounts: AccountTrail;
  metrics: Metrics;
  logger: Logger;
}): Component & { record: AuthDeps['onRefused'] } {
  const { models, accounts, metrics, logger } = deps;
  const failed = metrics.counter({
    name: 'identity_failed_logins_total',
    help: 'Logins with a wrong password, by whether the account exists',
    labelNames: ['account'],
  });
  for (const account of ['known', 'unknown']) failed.inc({ account }, 0);
  const inFlight = new Set<Promise<void>>();

  return {
    name: 'refused-logins',
    record(user, request) {
      failed.inc({ account: user === null ? 'unknown' : 'known' });
      if (user === null) return;
      const actor = { type: 'user', id: user.id, name: user.name } as const;
      const cause = { ...request, action: 'session.refuse', actor } as const;
      const recording = withTransaction(models.connection, (session) => accounts.record(session, user.id, cause)).catch(
        (err: unknown) => logger.warn({ err, user_id: user.id }, 'a failed login is not in the audit log'),
      );
      inFlight.add(recording);
      void recording.finally(() => inFlight.delete(recording));
    },
    async start() {},
    async stop() {
      await Promise.all(inFlight);
    },
  };
}
