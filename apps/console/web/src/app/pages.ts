import { text } from '../text/index.ts';
import type { Role } from './account.tsx';

const nav = text.common.nav;

/** The pages of a workspace in the order of the menu, and the role that each is for. */
export const MENU = [
  { to: '/w/$slug', name: nav.overview, group: null, needs: 'member' },
  { to: '/w/$slug/spend', name: nav.spend, group: null, needs: 'member' },
] as const satisfies readonly { to: string; name: string; group: string | null; needs: Role }[];

export type MenuPath = (typeof MENU)[number]['to'];
