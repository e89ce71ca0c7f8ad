import { randomUUID } from 'node:crypto';
import type { Logger } from '@tollkeeper/runtime';
import type { RepricingJob, RepricingStore } from './repricing.ts';
import { problemOf, type RepricingDeps, startRun } from './repricing.run.ts';

/** After so many failures in a row, a job has failed. With pauses of 5 s and more, it lasts for an hour of outages. */
const MAX_FAILURES = 360;
/** How long a process works on one job. Then it is the turn of the one that waits longest. */
const TURN_MS = 10_000;

export interface RepricingWorker {
  /** Works on one job for a while. False if there is none to work on. */
  work(isStopped: () => boolean): Promise<boolean>;
}

/** Works on jobs of all workspaces, in turns. Each replica has one: a job goes on where its process has ended. */
export function createRepricingWorker(
  deps: RepricingDeps & { store: RepricingStore; logger: Logger },
): RepricingWorker {
  const { store, logger, clock } = deps;
  const owner = randomUUID();

  async function pages(job: RepricingJob, isStopped: () => boolean): Promise<void> {
    const until = clock() + TURN_MS;
    const run = await startRun(deps, job);
    for (;;) {
      const reached = await run.nextPage();
      const isOver = reached.state === 'done' || clock() >= until || isStopped();
      if (!(await store.save(owner, reached, { isOver })) || isOver) return;
    }
  }

  return {
    async work(isStopped) {
      const job = await store.claim(owner);
      if (job === null) return false;
      try {
        await pages(job, isStopped);
      } catch (err) {
        // The pages before are stored: what is left goes on from there.
        const last = (await store.find(job.tenantId, job.id)) ?? job;
        const failures = last.failures + 1;
        const hasFailed = failures >= MAX_FAILURES;
        const ids = { err, tenant_id: job.tenantId, repricing_id: job.id };
        if (hasFailed) logger.error(ids, 'pricing calls again has failed');
        else logger.warn(ids, 'pricing calls again waits; it is tried again');
        const failed = { ...last, failures, problem: problemOf(err) };
        await store.save(owner, hasFailed ? { ...failed, state: 'failed', finishedAt: new Date(clock()) } : failed, {
          isOver: true,
        });
      }
      return true;
    },
  };
}
