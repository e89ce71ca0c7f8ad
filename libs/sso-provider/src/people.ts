/** Who can log in at the provider, with the claims that it sends of them; `sub` is their name here. */
export type People = Map<string, Record<string, unknown>>;

/** People for a first look, each of whom shows another way to get in. */
export function samplePeople(): People {
  return new Map<string, Record<string, unknown>>([
    ['ann', { email: 'owner@example.com', email_verified: true, name: 'Ann Owner', groups: ['tollkeeper-owners'] }],
    ['bob', { email: 'bob@example.com', email_verified: true, name: 'Bob Member', groups: ['tollkeeper-members'] }],
    ['cy', { email: 'cy@example.com', name: 'Cy Unverified', groups: ['tollkeeper-members'] }],
    ['dee', { email: 'dee@example.com', email_verified: true, name: 'Dee Without Groups', groups: [] }],
  ]);
}
