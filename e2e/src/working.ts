import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ApiClient } from './api.client.ts';
import type { Stage } from './deployment.ts';
import { newWorkspace, type TestWorkspace } from './workspace.ts';
import type { Experience, Orders, Others } from './working.thread.ts';

/** Work in other workspaces that continues until it is stopped. */
export interface Working {
  /** Resolves once reservations are as fast as usual, to how long that took in seconds. */
  recovered(): Promise<number>;
  stop(): Promise<Experience>;
}

/**
 * A gateway that reserves, and people who continuously log in, read their account and spend, and change a rule. They
 * run in a separate thread, because an attack keeps its own thread busy.
 */
export async function startWorking(stage: Stage, owner: ApiClient): Promise<Working> {
  const { baseUrl, owner: credentials, workspace: slug } = stage.deployment();
  const workspace = await newWorkspace(owner);
  const rule = await createRule(owner, workspace);
  const others: Others = { baseUrl, credentials, slug, rule, apiKey: workspace.apiKey, cookie: owner.cookie ?? '' };
  const thread = new Worker(join(import.meta.dirname, 'working.thread.ts'), { workerData: others, execArgv: [] });
  let stopping: Promise<Experience> | undefined;

  async function ask<T>(order: Orders): Promise<T> {
    const answered = once(thread, 'message');
    thread.postMessage(order);
    const [answer] = (await answered) as [T];
    return answer;
  }
  await ask('begin');
  return {
    recovered: () => ask<number>('recover'),
    stop: () => (stopping ??= ask<Experience>('stop').finally(() => thread.terminate())),
  };
}

/** The path of a new rule that never fires. */
async function createRule(owner: ApiClient, workspace: TestWorkspace): Promise<string> {
  const path = workspace.path('/alerts/rules');
  const body = {
    ...{ name: 'Changed', severity: 'low', scope_type: 'workspace', scope_id: workspace.id },
    ...{ rule_kind: 'event_count_gte', rule_config: { window_seconds: 600, threshold: 1000 } },
  };
  const { id } = await owner.expect<{ id: string }>({ method: 'POST', path, body, status: 201 });
  return `${path}/${id}`;
}
