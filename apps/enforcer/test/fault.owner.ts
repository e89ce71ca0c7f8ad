import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET } from '@tollkeeper/testing/peers';
import type { LimitName } from './fault.book.ts';

export interface LimitOfView {
  scope: LimitName;
  limit_micros: number;
  spent_micros: number;
  held_micros: number;
  open_reservations: number;
  open_leases: number;
  overspend_micros: { above_hold: number; late: number; unreserved: number };
}

export interface OpenLease {
  id: string;
  agent_id: string;
  plan_key: string | null;
  left_micros: number;
  expires_at: string;
}

/** Reads a path of a replica as an owner of the workspace. Null if it could not be read. */
export async function readAsOwner<Body>(port: number, tenantId: TenantId, path: string): Promise<Body | null> {
  const token = await signCallerToken(CALLER_TOKEN_SECRET, 'enforcer', { userId: 'user_1', tenantId, role: 'owner' });
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers: { [CALLER_HEADER]: token } });
  return answer.ok ? ((await answer.json()) as Body) : null;
}

/** Reads all pages of a list. */
export async function listAsOwner<Item>(port: number, tenantId: TenantId, path: string): Promise<Item[] | null> {
  const all: Item[] = [];
  let cursor: string | null = '';
  do {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    type Page = { items: Item[]; next_cursor: string | null };
    const page: Page | null = await readAsOwner<Page>(port, tenantId, `${path}&limit=100${from}`);
    if (page === null) return null;
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}
