import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { SetAsideChanges } from '../store/set-aside.store.ts';

/** From one look whether there is room for a workspace that is set aside to the next. */
const LOOK_AGAIN_MS = 60_000;

/** The workspaces of a partition that are set aside, with what a store lacks of that. */
export class SetAsideWorkspaces {
  /** Since when, and when somebody last looked for room; at a takeover there may be room at once. */
  readonly #places: Map<TenantId, { since: number; lookedAt: number }>;
  readonly #changes = new Map<TenantId, number | null>();
  /** What the last {@link SetAsideWorkspaces.changed} answered: more may come while it is stored. */
  #recorded: SetAsideChanges = new Map();
  readonly #clock: Clock;

  constructor(stored: ReadonlyMap<TenantId, number>, clock: Clock) {
    this.#places = new Map([...stored].map(([tenantId, since]) => [tenantId, { since, lookedAt: -Infinity }]));
    this.#clock = clock;
  }

  get size(): number {
    return this.#places.size;
  }

  get isChanged(): boolean {
    return this.#changes.size > 0;
  }

  has(tenantId: TenantId): boolean {
    return this.#places.has(tenantId);
  }

  tenantIds(): Iterable<TenantId> {
    return this.#places.keys();
  }

  add(tenantId: TenantId): void {
    const now = this.#clock();
    const since = this.#places.get(tenantId)?.since ?? now;
    this.#places.set(tenantId, { since, lookedAt: now });
    this.#changes.set(tenantId, since);
  }

  /** Whether somebody should look for room for it; then nobody has to for a while. */
  isDue(tenantId: TenantId): boolean {
    const place = this.#places.get(tenantId);
    const now = this.#clock();
    if (place === undefined || now - place.lookedAt < LOOK_AGAIN_MS) return false;
    place.lookedAt = now;
    return true;
  }

  /** Takes the workspace out while `read` gets its windows, which may be too large: then it stays as it was. */
  async takeBack(tenantId: TenantId, read: () => Promise<void>): Promise<void> {
    const place = this.#places.get(tenantId);
    this.#places.delete(tenantId);
    await read();
    const again = this.#places.get(tenantId);
    // Its size was not known that well: nothing was evaluated meanwhile.
    if (again !== undefined && place !== undefined) again.since = place.since;
    this.#changes.set(tenantId, again?.since ?? null);
  }

  /** What a store lacks since `saved` was called. */
  changed(): SetAsideChanges {
    this.#recorded = new Map(this.#changes);
    return this.#recorded;
  }

  /** Says that what `changed` answered is in the store. */
  saved(): void {
    for (const [tenantId, since] of this.#recorded) {
      if (this.#changes.get(tenantId) === since) this.#changes.delete(tenantId);
    }
  }
}
