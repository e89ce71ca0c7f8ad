import { hash } from 'node:crypto';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import { SPEND_SETTLED, type DashboardEvent } from '../../domain/event.ts';

/**
 * The keys under which a chunk is found: of its events, their settlements and the runs that start in it. Several ids
 * may have the same key, so a reader must compare the ids in the chunk.
 *
 * A key begins as the id does. So growing ids (sequences, ULIDs, UUIDs of version 7) are added in one place of the
 * index, which takes a fifth of the work of random places. The rest of a long id is hashed.
 */
const BEGIN_LENGTH = 16;
/**
 * 48 bits, so that nobody can afford to make many ids with one key. Each new one of them would be compared with all
 * chunks of the others.
 */
const HASH_LENGTH = 8;
/** 24 bits: they place all keys of one kind and workspace side by side. */
const OWNER_LENGTH = 4;

const owners = new LRUCache<string, string>(roomFor(10_000));
/** Hashes of what follows short ids: an empty rest and, for events, the source. */
const hashes = new LRUCache<string, string>(roomFor(10_000));

type Kind = 'event' | 'settlement' | 'start';

export function runStartKey(tenantId: TenantId, runId: string): string {
  return keyOf('start', tenantId, runId);
}

/** The keys of what makes the event unique: see `identitiesOf`. */
export function identityKeys({ tenantId, eventId, source, type, data }: DashboardEvent): string[] {
  const keys = [keyOf('event', tenantId, eventId, source)];
  if (type === SPEND_SETTLED) keys.push(keyOf('settlement', tenantId, data.settlement_id ?? ''));
  return keys;
}

function keyOf(kind: Kind, tenantId: TenantId, id: string, source = ''): string {
  const rest = `${id.slice(BEGIN_LENGTH)}|${source}`;
  const end = id.length <= BEGIN_LENGTH ? remembered(hashes, rest, HASH_LENGTH) : hashOf(rest, HASH_LENGTH);
  return `${remembered(owners, `${kind}|${tenantId}`, OWNER_LENGTH)}${id.slice(0, BEGIN_LENGTH)}${end}`;
}

function remembered(known: LRUCache<string, string>, text: string, length: number): string {
  let hashed = known.get(text);
  if (hashed === undefined) known.set(text, (hashed = hashOf(text, length)));
  return hashed;
}

function hashOf(text: string, length: number): string {
  return hash('sha256', text, 'base64url').slice(0, length);
}
