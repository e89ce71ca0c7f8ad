import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { SetAsideChanges } from '../store/set-aside.store.ts';

/** Time between two checks whether there is room for a workspace that is set aside. */
const LOOK_AGAIN_MS = 60_000;

/** The workspaces of a partition that are set aside, with the unsaved changes. */
export class SetAsideWorkspaces {
  /** Since when it is set aside, and when room was last checked. After a takeover, the check is due at once. */
  readonly #places: Map<TenantId, { since: number; lookedAt: number }>;
  readonly #changes = new Map<TenantId, number | null>();
  /** The last result of {@link SetAsideWorkspaces.changed}: there may be newer changes while it is stored. */
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

  /** Whether a check for room is due; if so, notes the check. */
  isDue(tenantId: TenantId): boolean {
    const place = this.#places.get(tenantId);
    const now = this.#clock();
    if (place === undefined || now - place.lookedAt < LOOK_AGAIN_MS) return false;
    place.lookedAt = now;
    return true;
  }

  /** Resumes the workspace while `read` loads its windows. If they are too large, it is set aside as before. */
  async takeBack(tenantId: TenantId, read: () => Promise<void>): Promise<void> {
    const place = this.#places.get(tenantId);
    this.#places.delete(tenantId);
    await read();
    const again = this.#places.get(tenantId);
    // Set aside again because its size was underestimated. No event was evaluated, so `since` stays.
    if (again !== undefined && place !== undefined) again.since = place.since;
    this.#changes.set(tenantId, again?.since ?? null);
  }

  /** The changes since the last `saved`. */
  changed(): SetAsideChanges {
    this.#recorded = new Map(this.#changes);
    return this.#recorded;
  }

  /** Call when the result of `changed` is stored. */
  saved(): void {
    for (const [tenantId, since] of this.#recorded) {
      if (this.#changes.get(tenantId) === since) this.#changes.delete(tenantId);
    }
  }
}
