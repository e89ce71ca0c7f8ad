import { describe, expect, it } from '@jest/globals';
import { AUDIT_TOPIC, encodeAuditRecord } from '@tollkeeper/contracts';
import { useMongo } from '@tollkeeper/testing';
import { newRecord, newTenant, useAudit } from './audit.stack.ts';

const audit = useAudit(useMongo());

describe('the audit log of a workspace', () => {
  it('is the records as they were written, the newest first, each with the hash of the one before it', async () => {
    const tenantId = newTenant();
    const first = newRecord(tenantId, { at: 1_000 });
    const second = newRecord(tenantId, { at: 2_000, action: 'key.revoke' });
    await audit.record([first, second]);

    const [newest, oldest] = await audit.list(tenantId);
    expect(oldest).toEqual({
      id: first.id,
      occurred_at: '1970-01-01T00:00:01.000Z',
      actor: { type: 'user', id: 'user_1', name: 'Ada' },
      action: 'key.create',
      target: { type: 'key', id: 'k1', name: 'eu-1' },
      changes: [{ field: 'name', from: null, to: 'eu-1' }],
      address: '203.0.113.7',
      user_agent: 'curl/8',
      request_id: 'request-1',
      sequence: 1,
      previous_hash: null,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(newest).toMatchObject({ id: second.id, sequence: 2, previous_hash: oldest!.hash });
    expect(newest!.hash).not.toBe(oldest!.hash);
  });

  it('has a record once, however often and in how many batches the log has it', async () => {
    const tenantId = newTenant();
    const record = newRecord(tenantId);
    await audit.append([record, record]);
    await audit.append([record]);
    await audit.restart();
    await audit.record([record, newRecord(tenantId, { action: 'key.revoke' })]);

    expect((await audit.list(tenantId)).map(({ sequence }) => sequence).sort()).toEqual([1, 2]);
  });

  it('is for owners alone, and has nothing of another workspace, whatever is asked for', async () => {
    const tenantId = newTenant();
    const record = newRecord(tenantId);
    await audit.record([record]);

    expect((await audit.get(tenantId, {}, 'admin')).status).toBe(403);
    const other = newTenant();
    expect(await audit.get(tenantId, {}, 'owner', record.id)).toMatchObject({ status: 200, body: { id: record.id } });
    expect((await audit.get(other, {}, 'owner', record.id)).status).toBe(404);
    const cursor = Buffer.from('9999999999999|1').toString('base64url');
    const queries: Record<string, string>[] = [
      {},
      { actor: 'user_1' },
      { target_id: 'k1' },
      { cursor },
      { format: 'ndjson' },
    ];
    for (const query of queries) {
      const { status, text } = await audit.get(other, query);
      expect([status, text.includes(record.id)]).toEqual([200, false]);
    }
  });

  it('continues behind records that cannot be read or are not what they say, and takes none of them', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    const first = newRecord(other, { at: 1_000 });
    await audit.record([first]);
    const good = newRecord(tenantId);
    const { value } = encodeAuditRecord(good);
    const wrong = (over: object) => Buffer.from(JSON.stringify({ ...JSON.parse(value.toString()), ...over }));
    const poison = [
      Buffer.from('{'),
      Buffer.alloc(900_000, 'x'),
      wrong({ tenant_id: { $ne: null } }),
      wrong({ record_id: 'a b' }),
      wrong({ occurred_at: '2026-02-30T00:00:00.000Z' }),
      wrong({ changes: [{ field: 'x', from: { $where: 'sleep(1)' }, to: null }] }),
      wrong({ target: { type: 'key', id: 'x'.repeat(129), name: '' } }),
      // In this workspace, with the id of another workspace's record.
      wrong({ record_id: first.id }),
    ];
    const records = [...poison, value].map((each) => ({ key: tenantId, value: each }));
    await audit.eventLog().append(AUDIT_TOPIC, records);
    await audit.record([good]);
    expect((await audit.list(tenantId)).map(({ id, sequence }) => [id, sequence])).toEqual([[good.id, 1]]);
    expect((await audit.list(other)).map(({ id }) => id)).toEqual([first.id]);
  });

  it('has no call that alters or deletes a record', async () => {
    const tenantId = newTenant();
    await audit.record([newRecord(tenantId)]);
    const { body } = await audit.get(tenantId);
    const document = (await (await fetch(`${audit.service().httpUrl}/openapi.json`)).json()) as { paths: object };
    expect(Object.entries(document.paths).map(([path, item]) => [path, Object.keys(item as object)])).toEqual([
      ['/api/v1/audit', ['get']],
      ['/api/v1/audit/{record_id}', ['get']],
    ]);
    expect(body.items).toHaveLength(1);
  });
});

describe('filters', () => {
  const tenantId = newTenant();
  const key = { type: 'key', id: 'k1', name: 'eu-1' };
  const plan = { type: 'plan', id: 'tier', name: 'Tier' };
  const records = [
    newRecord(tenantId, { at: 1_000, actor: 'ada', action: 'key.create', target: key }),
    newRecord(tenantId, { at: 2_000, actor: 'bob', action: 'key.revoke', target: key }),
    newRecord(tenantId, { at: 3_000, actor: 'ada', action: 'plan.create', target: plan }),
    newRecord(tenantId, { at: 4_000, actor: 'ada', action: 'plan.delete', target: plan }),
  ];
  const found = async (query: Record<string, string | number>) =>
    (await audit.list(tenantId, query)).map(({ id }) => records.findIndex((record) => record.id === id));

  it.each<[Record<string, string>, number[]]>([
    [{}, [3, 2, 1, 0]],
    [{ actor: 'ada' }, [3, 2, 0]],
    [{ action: 'key.revoke' }, [1]],
    [{ target_type: 'plan' }, [3, 2]],
    [{ target_id: 'k1' }, [1, 0]],
    [{ target_id: 'k1', target_type: 'plan' }, []],
    [{ target_id: 'k1', target_type: 'key' }, [1, 0]],
    [{ actor: 'ada', action: 'plan.delete' }, [3]],
    [{ actor: 'ada', target_type: 'key' }, [0]],
    [{ actor: 'bob', action: 'key.revoke', target_type: 'key', target_id: 'k1' }, [1]],
    [{ actor: 'bob', action: 'plan.create' }, []],
    [{ from: '1970-01-01T00:00:02Z' }, [3, 2, 1]],
    [{ to: '1970-01-01T00:00:02Z' }, [0]],
    [{ actor: 'ada', from: '1970-01-01T00:00:03Z', to: '1970-01-01T00:00:04Z' }, [2]],
  ])('%j finds what it says and nothing else', async (query, expected) => {
    await audit.record(records);
    expect(await found(query)).toEqual(expected);
  });

  it.each<[Record<string, string>, string]>([
    [{ action: 'Key Create' }, 'action'],
    [{ from: 'yesterday' }, 'from'],
    [{ limit: '101' }, 'limit'],
    [{ cursor: 'x' }, 'cursor'],
    [{ format: 'csv' }, 'format'],
    [{ actor: 'a b' }, 'actor'],
    [{ actor: '' }, 'actor'],
    [{ actor: 'x'.repeat(129) }, 'actor'],
    [{ target_id: '$ne' }, 'target_id'],
    [{ target_type: '*' }, 'target_type'],
    [{ to: '2026-02-30T00:00:00Z' }, 'to'],
    [{ limit: '0' }, 'limit'],
    [{ cursor: 'x'.repeat(1_025) }, 'cursor'],
    [{ cursor: Buffer.from('9999999999999999|x').toString('base64url') }, 'cursor'],
  ])('%j is refused with the name of the field', async (query, path) => {
    expect(await audit.get(tenantId, query)).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });

  it.each<Record<string, string>>([
    {},
    { actor: 'ada', action: 'plan.update' },
    { target_type: 'key', target_id: 'tier' },
    { actor: 'bob', action: 'key.create', target_type: 'key', target_id: 'tier' },
    { actor: 'bob', target_type: 'plan' },
    { action: 'key.create', target_type: 'plan' },
    { action: 'plan.update', target_type: 'key', target_id: 'tier' },
    { actor: 'ada', from: '1970-01-01T00:00:00.020Z', to: '1970-01-01T00:00:00.040Z' },
    { target_id: 'tier', cursor: Buffer.from('30|30').toString('base64url') },
  ])('%j reads no more records than a page has, however many others have a part of it', async (query) => {
    const busy = newTenant();
    const rare = newRecord(busy, { at: 0, actor: 'bob', target: { ...key, id: 'tier' } });
    const others = Array.from({ length: 60 }, (_, index) =>
      newRecord(busy, { at: index + 1, actor: 'ada', action: 'plan.update', target: plan }),
    );
    await audit.record([rare, ...others]);
    const database = audit.mongo.connection.useDb(audit.database);
    const begun = new Date();
    await database.db!.command({ profile: 2 });
    const listed = await audit.list(busy, { ...query, limit: 5 });
    await database.db!.command({ profile: 0 });
    const read = await database
      .collection('system.profile')
      .find({ ns: `${audit.database}.records`, op: 'query', ts: { $gte: begun } })
      .toArray();
    expect(read).toHaveLength(1);
    // One more shows whether another page follows, and the record of the cursor is read again.
    expect(read[0]!['docsExamined']).toBeLessThanOrEqual(listed.length + 2);
  });

  it('pages through records of one millisecond without a gap or a repetition', async () => {
    const busy = newTenant();
    await audit.record(Array.from({ length: 25 }, () => newRecord(busy, { at: 5_000 })));
    const ids: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { body } = await audit.get(busy, { limit: 10, ...(cursor !== undefined && { cursor }) });
      ids.push(...(body as { items: { id: string }[] }).items.map(({ id }) => id));
      cursor = (body as { next_cursor: string | null }).next_cursor;
    }
    expect([ids.length, new Set(ids).size]).toEqual([25, 25]);
  });
});
