import { afterAll, beforeAll } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import { useBrowser } from '../browser.ts';
import type { Look, Visit } from '../browser.ts';
import type { Stage } from '../deployment.ts';
import { budgetBlocked, guardBlocked, spendSettled } from '../events.ts';
import { newWorkspace, reportEvents, type TestWorkspace } from '../workspace.ts';

/** A zone where it is daytime: today's charts have bars of hours there, and no test runs while a day ends. */
function daytimeZone(): string {
  const hour = new Date().getUTCHours();
  return hour >= 2 && hour < 19 ? 'Europe/Zurich' : 'Asia/Tokyo';
}

/** A workspace with some spend, blocked calls and budgets, and its console in a browser. */
export function useWorkspaceInBrowser(stage: Stage) {
  const target = stage.deployment;
  const timezone = daytimeZone();
  const browser = useBrowser(() => target().baseUrl);
  let owner: ApiClient;
  let workspace: TestWorkspace;
  /** One browser per look with the owner's session, because a new browser costs more than a page. */
  const lasting = new Map<Look, Visit>();
  let begun: Visit[] = [];

  beforeAll(async () => {
    owner = await logIn(target(), target().owner);
    workspace = await newWorkspace(owner, timezone);
    const budgets = `/api/v1/workspaces/${workspace.id}/budgets`;
    await owner.expect({ method: 'PUT', path: `${budgets}/workspace`, body: { daily_budget_usd_micros: 50_000_000 } });
    const events = [
      spendSettled({ agentId: 'planner', runId: 'run-1', amountMicros: 12_345_678 }),
      spendSettled({ agentId: 'writer', runId: 'run-2', amountMicros: 2_000_000 }),
      budgetBlocked('run-1', 'planner'),
      guardBlocked('run-2', 'writer'),
    ];
    // On a busy machine, the check of the key may time out.
    await eventually(() => reportEvents(target(), workspace.apiKey, events));
    await eventually(async () => {
      const { items } = await owner.expect<{ items: unknown[] }>({ path: workspace.path('/agents') });
      if (items.length < 2) throw new Error('the agents are not known yet');
    });
  });
  afterAll(async () => {
    for (const visit of [...lasting.values(), ...begun]) await visit.close();
  });

  return {
    owner: () => owner,
    workspace: () => workspace,
    timezone,
    browser,
    /**
     * A page of the workspace, or of another one, as its owner. A test that leaves state in a browser must use `begin`.
     */
    async open(look: Look, below: string, { slug } = workspace): Promise<Visit> {
      const visit = lasting.get(look) ?? (await browser.visit(look, owner));
      lasting.set(look, visit);
      await visit.page.goto(`/w/${slug}${below}`);
      return visit;
    },
    /** A new browser of the owner, which shows no page yet. */
    async begin(look: Look): Promise<Visit> {
      const visit = await browser.visit(look, owner);
      begun.push(visit);
      return visit;
    },
    /** Leaves the pages of a test, which fails if they had problems. */
    async closeAll(): Promise<void> {
      const visits = begun;
      begun = [];
      for (const visit of visits) await visit.close();
      for (const visit of lasting.values()) await visit.leave();
    },
  };
}
