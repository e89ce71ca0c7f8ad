import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import {
  AUDIT_LIMITS,
  type AuditedFields,
  type AuditRecord,
  auditRecordOf,
  type Cause,
  changesOf,
  decodeAuditRecord,
  encodeAuditRecord,
} from './index.ts';

const cause: Cause = {
  action: 'key.create',
  actor: { type: 'user', id: 'user_1', name: 'Ada' },
  address: '203.0.113.7',
  userAgent: 'curl/8',
  requestId: 'request-1',
};
const target = { type: 'key', id: 'k1', name: 'eu-1' };
const recordOf = (changes: AuditRecord['changes'], over: Partial<Cause> = {}) =>
  auditRecordOf(provenTenantId('ws_1'), { ...cause, ...over }, { target, changes }, 1_000);
const throughTheLog = (record: AuditRecord) => decodeAuditRecord(encodeAuditRecord(record).value);

describe('a record of the audit log', () => {
  it('comes out of the log as it went in, under the key of its workspace', () => {
    const record = recordOf([
      { field: 'name', from: null, to: 'eu-1' },
      { field: 'enabled', from: true, to: false },
      { field: 'threshold', from: 3, to: Number.MAX_SAFE_INTEGER },
      { field: 'event_types', from: [], to: ['budget.blocked', 80] },
    ]);
    expect(throughTheLog(record)).toEqual(record);
    expect(encodeAuditRecord(record).key).toBe('ws_1');
  });

  it('is cut where it is longer than a record may be, so that no input keeps a change from being recorded', () => {
    const long = 'x'.repeat(5_000);
    const change = { field: long, from: long, to: Array.from({ length: 500 }, () => long) };
    const changes = Array.from({ length: 500 }, () => change);
    const huge = recordOf(changes, { userAgent: long, actor: { type: 'user', id: long, name: long } });
    const read = throughTheLog({ ...huge, target: { type: long, id: long, name: long } });
    expect(throughTheLog(recordOf(changes.map(({ field, from }) => ({ field, from, to: null })))).changes).toHaveLength(
      AUDIT_LIMITS.changes,
    );
    expect([read.userAgent?.length, read.actor.name.length, read.target.id.length]).toEqual([256, 160, 128]);
    expect(read.changes[0]?.from).toBe(`${'x'.repeat(1023)}…`);
    expect((read.changes[0]?.to as string[]).length).toBe(AUDIT_LIMITS.items);
  });

  it('is far below what the log takes, even where each of its characters takes six bytes', () => {
    const items = Array.from({ length: AUDIT_LIMITS.items }, () => '\u0001'.repeat(AUDIT_LIMITS.item));
    const changes = Array.from({ length: AUDIT_LIMITS.changes }, (_, at) => ({
      field: `f${at}`,
      from: null,
      to: items,
    }));
    const record = recordOf(changes);
    expect(encodeAuditRecord(record).value.length).toBeLessThan(300_000);
    expect(throughTheLog(record).changes).toEqual(changes.slice(0, 2));
  });

  it('has no half of a character, which a store would keep as another one', () => {
    const cutInTwo = `${'x'.repeat(1022)}😀${'x'.repeat(10)}`;
    const [first, second] = throughTheLog(
      recordOf([
        { field: 'a', from: null, to: '\ud83d' },
        { field: 'b', from: null, to: cutInTwo },
      ]),
    ).changes;
    expect([first!.to, (second!.to as string).isWellFormed()]).toEqual(['\ufffd', true]);
    const foreign = encodeAuditRecord(recordOf([])).value.toString().replace('"Ada"', '"\\ud83d"');
    expect(decodeAuditRecord(Buffer.from(foreign)).actor.name).toBe('\ufffd');
  });

  it('of a newer release is read as well, with actions, actors and fields that this one does not know', () => {
    const newer = {
      ...JSON.parse(encodeAuditRecord(recordOf([])).value.toString()),
      action: 'robot.dance',
      mood: 'good',
    };
    newer.actor.type = 'robot';
    expect(decodeAuditRecord(Buffer.from(JSON.stringify(newer)))).toMatchObject({
      action: 'robot.dance',
      actor: { type: 'robot' },
    });
  });

  it('that is broken is refused with the names of the fields and none of their values', () => {
    const broken = encodeAuditRecord(recordOf([])).value.toString().replace('"ws_1"', '"secret value"');
    expect(() => decodeAuditRecord(Buffer.from(broken))).toThrow(/tenant_id: (?!.*secret)/);
    expect(() => decodeAuditRecord(Buffer.from('{'))).toThrow('not JSON');
  });
});

describe('the changes of a target', () => {
  interface Thing {
    name: string;
    tags: string[];
    password: string | null;
    hidden: string;
  }
  const FIELDS: AuditedFields<Thing> = {
    name: (thing) => thing.name,
    tags: (thing) => thing.tags,
    password: { secret: (thing) => thing.password },
  };
  const before: Thing = { name: 'a', tags: ['x'], password: 'first-secret', hidden: 'one' };

  it('are the listed fields that differ, and no other', () => {
    expect(changesOf(FIELDS, before, { ...before, tags: ['x'], hidden: 'two' })).toEqual([]);
    expect(changesOf(FIELDS, before, { ...before, tags: ['x', 'y'], hidden: 'two' })).toEqual([
      { field: 'tags', from: ['x'], to: ['x', 'y'] },
    ]);
  });

  it('say of a secret that it changed, and nothing else', () => {
    for (const password of ['second-secret', null]) {
      const changes = changesOf(FIELDS, before, { ...before, password });
      expect(changes).toEqual([{ field: 'password', from: null, to: 'changed' }]);
    }
    expect(changesOf(FIELDS, { ...before, password: null }, { ...before, password: null })).toEqual([]);
  });

  it('of what is made or deleted are all fields, from or to null', () => {
    const made = [
      { field: 'name', from: null, to: 'a' },
      { field: 'tags', from: null, to: ['x'] },
      { field: 'password', from: null, to: 'changed' },
    ];
    expect(changesOf(FIELDS, null, before)).toEqual(made);
    expect(changesOf(FIELDS, before, null)).toEqual(
      made.map(({ field, to }) => (field === 'password' ? { field, from: null, to } : { field, from: to, to: null })),
    );
  });
});
