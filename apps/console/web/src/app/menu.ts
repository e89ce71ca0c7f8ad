import { may } from '@tollkeeper/kernel/roles';
import { text } from '../text/index.ts';
import { type Role, useWorkspace } from './account.tsx';

const nav = text.common.nav;

interface MenuEntry {
  to: `/w/$slug${'' | `/${string}`}`;
  name: string;
  group: string | null;
  /** Who may not read what this role may does not see the page in the menu. Its URL shows why. */
  needs: Role;
  /** Reached from another page, and not in the menu. */
  isBelow?: true;
}

/** The pages of a workspace in the order of the menu. */
const MENU = [
  { to: '/w/$slug', name: nav.overview, group: null, needs: 'member' },
  { to: '/w/$slug/spend', name: nav.spend, group: null, needs: 'member' },
  { to: '/w/$slug/spend/statement', name: nav.statement, group: null, needs: 'member', isBelow: true },
  { to: '/w/$slug/agents', name: nav.agents, group: null, needs: 'member' },
  { to: '/w/$slug/blocked', name: nav.blocked, group: null, needs: 'member' },
  { to: '/w/$slug/budgets', name: nav.budgets, group: nav.control, needs: 'member' },
  { to: '/w/$slug/limits', name: nav.limits, group: nav.control, needs: 'member' },
  { to: '/w/$slug/raises', name: nav.raises, group: nav.control, needs: 'member' },
  { to: '/w/$slug/alerts', name: nav.alerts, group: nav.alerting, needs: 'admin' },
  { to: '/w/$slug/rules', name: nav.rules, group: nav.alerting, needs: 'admin' },
  { to: '/w/$slug/channels', name: nav.channels, group: nav.alerting, needs: 'admin' },
  { to: '/w/$slug/prices', name: nav.prices, group: nav.workspace, needs: 'member' },
  { to: '/w/$slug/bills', name: nav.bills, group: nav.workspace, needs: 'member' },
  { to: '/w/$slug/connect', name: nav.connect, group: nav.workspace, needs: 'member' },
  { to: '/w/$slug/keys', name: nav.keys, group: nav.workspace, needs: 'owner' },
  { to: '/w/$slug/members', name: nav.members, group: nav.workspace, needs: 'owner' },
  { to: '/w/$slug/audit', name: nav.audit, group: nav.workspace, needs: 'owner' },
  { to: '/w/$slug/settings', name: nav.settings, group: nav.workspace, needs: 'member' },
] as const satisfies readonly MenuEntry[];

type Page = (typeof MENU)[number];

/** The pages that the person's role allows. */
export function useAllowedPages(): readonly Page[] {
  const { role } = useWorkspace();
  return MENU.filter(({ needs }) => may(role, 'read', needs));
}

/** Those of them in the menu. */
export function useMenu(): readonly Page[] {
  return useAllowedPages().filter((page) => !('isBelow' in page));
}
