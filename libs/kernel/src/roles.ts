/** Roles in a workspace. If several rules give a person one, the last of them here applies. */
export const ROLES = ['member', 'finance', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** The role that a route requires. `any` is for every role, also those that change nothing. */
export const NEEDED_ROLES = ['any', ...ROLES] as const;
export type NeededRole = (typeof NEEDED_ROLES)[number];

/** What a route does. */
export type Act = 'read' | 'change';

/**
 * What each role may read and change: routes that require one of these roles. The gateway, the services and the console
 * all ask this table, and nothing else decides it.
 */
const PERMISSIONS: Record<Role, Record<Act, readonly NeededRole[]>> = {
  member: { read: ['any', 'member'], change: ['any', 'member'] },
  finance: { read: NEEDED_ROLES, change: ['any', 'finance'] },
  admin: { read: ['any', 'member', 'admin'], change: ['any', 'member', 'admin'] },
  owner: { read: NEEDED_ROLES, change: NEEDED_ROLES },
};

/** Whether people with `role` may use a route that does `act` and requires `needed`. */
export function may(role: Role, act: Act, needed: NeededRole): boolean {
  return PERMISSIONS[role][act].includes(needed);
}

/** Whether a person with the role `from` could read or change more with the role `to`. */
export function gainsBy(from: Role, to: Role): boolean {
  const acts = ['read', 'change'] as const;
  return acts.some((act) => NEEDED_ROLES.some((needed) => may(to, act, needed) && !may(from, act, needed)));
}

/** Whether `role` applies where rules give both. It says nothing about what they may do. */
export function ranksAtLeast(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(other);
}
