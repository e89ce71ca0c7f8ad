import type { TenantId } from '@tollkeeper/kernel';
import { accountsOf, budgetsOfRun, changedBudgets, DAILY, type FaultCall } from './fault.budgets.ts';
import type { Expected } from './fault.expectations.ts';
import type { Chance, FaultRecord } from './fault.record.ts';
import type { Stage } from './fault.stage.ts';

/** Number of workspaces in use at a time. With one, all callers and replicas compete for one journal. */
const WORKSPACES = 1;
/** Number of calls per workspace. About half of them use up its limits. */
const CALLS_OF_WORKSPACE = 500;
/** The number of calls that are left when the budgets of a workspace are changed. */
const LEFT_AT_CHANGE = 300;

export interface FaultWorkspace {
  tenantId: TenantId;
  apiKey: string;
  /** By the names of accounts. */
  expected: Map<string, Expected>;
  callsLeft: number;
  areBudgetsChanged: boolean;
}

/** The workspaces of a run, one after the other, each with the budgets of the run. */
export interface FaultWorkspaces {
  readonly all: readonly FaultWorkspace[];
  readonly budgets: ReturnType<typeof budgetsOfRun>;
  /** One with calls left. */
  take(): FaultWorkspace;
  /** Changes the budgets of those whose calls ended before it was their turn. */
  changeTheRest(): void;
  /** Changes what is expected of all accounts in which the call counts. */
  expect(workspace: FaultWorkspace, call: FaultCall, change: (expected: Expected) => void): void;
}

export function createFaultWorkspaces(
  { budgets, identity, issued }: Pick<Stage, 'budgets' | 'identity' | 'issued'>,
  { startedAt }: FaultRecord,
  { below }: Chance,
): FaultWorkspaces {
  const all: FaultWorkspace[] = [];
  const active: FaultWorkspace[] = [];
  const ofRun = budgetsOfRun(startedAt);
  const timezone = zoneInTheMorning(startedAt);

  function make(): FaultWorkspace {
    const { tenantId, apiKey } = issued.issue();
    identity.setTimezone(tenantId, timezone);
    budgets.setWorkspace(tenantId, DAILY.workspace);
    for (const agentId of DAILY.agents) budgets.setAgent(tenantId, agentId, DAILY.agent);
    budgets.setPlan(tenantId, 'pro', DAILY.plan);
    budgets.setBudgets(tenantId, ...ofRun.map(({ budget }) => budget));
    const workspace = {
      ...{ tenantId, apiKey, expected: new Map<string, Expected>() },
      ...{ callsLeft: CALLS_OF_WORKSPACE, areBudgetsChanged: false },
    };
    all.push(workspace);
    return workspace;
  }

  function changeBudgets(workspace: FaultWorkspace): void {
    if (workspace.areBudgetsChanged) return;
    workspace.areBudgetsChanged = true;
    budgets.setBudgets(workspace.tenantId, ...changedBudgets(ofRun));
  }

  return {
    all,
    budgets: ofRun,
    changeTheRest: () => all.forEach(changeBudgets),
    take() {
      const index = below(WORKSPACES);
      let workspace = active[index];
      if (workspace === undefined || workspace.callsLeft <= 0) active[index] = workspace = make();
      if (workspace.callsLeft <= LEFT_AT_CHANGE) changeBudgets(workspace);
      return workspace;
    },
    expect({ tenantId, expected }, call, change) {
      for (const name of accountsOf(ofRun, tenantId, call)) {
        let account = expected.get(name);
        if (account === undefined) {
          account = { spent: 0, held: 0, open: 0, aboveHold: 0, late: 0, unreserved: 0, released: 0, expired: 0 };
          expected.set(name, account);
        }
        change(account);
      }
    },
  };
}

/** A time zone where it is between 6 and 7 a.m.: the limits of a run must be those of one day. */
export function zoneInTheMorning(now: number): string {
  const ahead = ((6 - new Date(now).getUTCHours() + 36) % 24) - 12;
  // These zones have POSIX signs, which are reversed.
  return `Etc/GMT${ahead < 0 ? '+' : '-'}${Math.abs(ahead)}`;
}
