import { agentKind } from './agent.kind.ts';
import { budgetKind } from './budget.kind.ts';
import { channelKind } from './channel.kind.ts';
import type { Kind } from './kind.ts';
import { maintenanceKind } from './maintenance.kind.ts';
import { memberKind } from './member.kind.ts';
import { planKind } from './plan.kind.ts';
import { ruleKind } from './rule.kind.ts';
import { workspaceKind } from './workspace.kind.ts';

/** All kinds, in the order in which they are created: what a kind names comes before it. */
export const KINDS: readonly Kind<object>[] = [
  ...[workspaceKind, agentKind, planKind, budgetKind, channelKind, ruleKind, maintenanceKind, memberKind],
] as const;
