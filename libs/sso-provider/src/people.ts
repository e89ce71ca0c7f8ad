/** The people who can log in at the provider, by `sub`, with their claims. */
export type People = Map<string, Record<string, unknown>>;

/** Sample people, one for each way to get in. */
export function samplePeople(): People {
  return new Map<string, Record<string, unknown>>([
    ['ann', { email: 'owner@example.com', email_verified: true, name: 'Ann Owner', groups: ['tollkeeper-owners'] }],
    ['bob', { email: 'bob@example.com', email_verified: true, name: 'Bob Member', groups: ['tollkeeper-members'] }],
    ['cy', { email: 'cy@example.com', name: 'Cy Unverified', groups: ['tollkeeper-members'] }],
    ['dee', { email: 'dee@example.com', email_verified: true, name: 'Dee Without Groups', groups: [] }],
  ]);
}
