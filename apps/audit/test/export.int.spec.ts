import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { CALLER_HEADER } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { createExports } from '../src/http/exports.ts';
import { newRecord, newTenant, useAudit } from './audit.stack.ts';

const audit = useAudit(useMongo());

async function filled(count: number): Promise<TenantId> {
  const tenantId = newTenant();
  await audit.record(Array.from({ length: count }, (_, at) => newRecord(tenantId, { at, actor: `user_${at % 2}` })));
  return tenantId;
}

/** Requests an export without reading the answer. */
async function open(tenantId: TenantId, method = 'GET'): Promise<Socket> {
  const { hostname, port } = new URL(audit.service().httpUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.pause();
  const token = await audit.tokenOf(tenantId);
  socket.write(
    `${method} /api/v1/audit?format=ndjson HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${CALLER_HEADER}: ${token}\r\n\r\n`,
  );
  return socket;
}

describe('an export', () => {
  it('has every record of the filters once, in lines, the newest first', async () => {
    const tenantId = await filled(450);
    const { headers, text: body } = await audit.get(tenantId, { format: 'ndjson', actor: 'user_1', limit: 10 });
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = body.trimEnd().split('\n');
    const records = lines.map((line) => JSON.parse(line) as { id: string; occurred_at: string; hash: string });
    expect([records.length, new Set(records.map(({ id }) => id)).size]).toEqual([225, 225]);
    const times = records.map(({ occurred_at }) => occurred_at);
    expect(times).toEqual(times.toSorted().reverse());
    expect((await audit.list(tenantId, { actor: 'user_1', limit: 1 }))[0]).toEqual(records[0]);
  });

  it('of nothing is empty', async () => {
    const { status, text: body } = await audit.get(newTenant(), { format: 'ndjson' });
    expect([status, body]).toEqual([200, '']);
  });

  it('is answered without a body to HEAD', async () => {
    const tenantId = await filled(1);
    const answer = await text((await open(tenantId, 'HEAD')).resume());
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer.split('\r\n\r\n')[1]).toBe('');
  });

  it('reads on only as fast as its client, and never more than a page ahead', async () => {
    let pages = 0;
    const endless = createExports({
      async list(tenantId) {
        pages += 1;
        return { entries: [{ ...newRecord(tenantId), sequence: pages } as never], next: { time: 1, sequence: pages } };
      },
    });
    const lines = endless({ tenantId: newTenant(), userId: 'user_1' }, {}, undefined, (entry) => entry)[
      Symbol.asyncIterator
    ]();
    await lines.next();
    await lines.next();
    await new Promise(setImmediate);
    expect(pages).toBe(2);
    await lines.return?.();
  });

  it('keeps a person and a workspace out at two under clients that do not read, and no others', async () => {
    // More than the system buffers for a socket.
    const tenantId = newTenant();
    const name = 'x'.repeat(150);
    for (let batch = 0; batch < 12; batch += 1) {
      const records = Array.from({ length: 1_000 }, () =>
        newRecord(tenantId, { target: { type: 'key', id: 'k', name } }),
      );
      await audit.record(records);
    }
    const idle = [await open(tenantId), await open(tenantId)];
    const other = newTenant();
    const owner = `owner_of_${tenantId}`;
    const start = (workspace: TenantId, userId: string) =>
      audit.get(workspace, { format: 'ndjson', target_id: 'none' }, 'owner', undefined, userId);
    await eventually(async () => expect((await start(tenantId, 'another')).status).toBe(429));
    const refused = await start(other, owner);
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([429, 'rate_limited', '10']);
    expect((await audit.get(tenantId)).status).toBe(200);
    expect((await start(other, 'another')).status).toBe(200);

    for (const socket of idle) socket.destroy();
    await eventually(async () => expect((await start(tenantId, owner)).status).toBe(200));
  });
});
