import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { KEYS_PATH, newTenant, useKeys } from './keys.stack.ts';

const mongo = useBreakableMongo();
const keys = useKeys(mongo);
afterAll(mongo.stop);

describe('the keys service without MongoDB', () => {
  it.each<[string, () => unknown, () => unknown]>([
    ['killed', mongo.kill, mongo.restart],
    ['hanging', mongo.hang, mongo.goOn],
  ])(
    '%s, answers 503 with Retry-After and is not ready, and goes on when it is back',
    async (_how, takeAway, bringBack) => {
      const tenantId = newTenant();
      const { id, api_key: apiKey } = await keys.create(tenantId);
      const verify = () => keys.verify(id, createHash('sha256').update(apiKey).digest());
      await expect(keys.ready()).resolves.toBeUndefined();

      await takeAway();
      await eventually(() => expect(keys.ready()).rejects.toThrow('mongo'));
      const refused = await keys.call('get', KEYS_PATH, { tenantId });
      expect([refused.status, refused.body]).toMatchObject([503, { code: 'service_unavailable' }]);
      expect(refused.headers['retry-after']).toMatch(/^\d+$/);
      const failure: unknown = await verify().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(AppError);
      // Either the answer or the caller's deadline comes first, but never the answer that the key is unknown.
      expect(['service_unavailable', 'upstream_timeout']).toContain((failure as AppError).code);

      await bringBack();
      await eventually(() => keys.ready());
      expect(await keys.list(tenantId)).toMatchObject([{ id }]);
      await expect(eventually(verify)).resolves.toMatchObject({ tenantId });
    },
  );
});
