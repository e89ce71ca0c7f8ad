import { connectRedis } from '../redis.client.ts';
import { ACCOUNTS, AMOUNT_MICROS, DAILY_BUDGET_MICROS } from './call.ts';
import type { Decider } from './decider.ts';

/**
 * The checks of the enforcer in the memory of Redis: the request once in 24 hours, and for each account posted + held +
 * amount ≤ limit. Without days, expiry and events.
 */
const SCRIPT = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 2 end
local amount = tonumber(ARGV[1])
for i = 2, #KEYS do
  local account = redis.call('HMGET', KEYS[i], 'posted', 'held')
  if (tonumber(account[1]) or 0) + (tonumber(account[2]) or 0) + amount > tonumber(ARGV[i]) then return 0 end
end
for i = 2, #KEYS do redis.call('HINCRBY', KEYS[i], 'held', amount) end
redis.call('SET', KEYS[1], amount, 'EX', 86400)
return 1`;

const GRANTED = '1';
const LIMITS = ACCOUNTS.map(() => String(DAILY_BUDGET_MICROS));

export async function createRedisDecider(port: number): Promise<Decider> {
  const redis = await connectRedis(port);
  const sha = await redis.send('SCRIPT', 'LOAD', SCRIPT);
  const keyCount = String(ACCOUNTS.length + 1);
  return {
    async decide(requestId) {
      const keys = [`request:${requestId}`, ...ACCOUNTS.map((account) => `account:${account}`)];
      const answer = await redis.send('EVALSHA', sha, keyCount, ...keys, String(AMOUNT_MICROS), ...LIMITS);
      if (answer !== GRANTED) throw new Error(`The call was denied: ${answer}`);
      return requestId;
    },
    settle: async () => undefined,
    async release() {
      for (const account of ACCOUNTS) await redis.send('HINCRBY', `account:${account}`, 'held', String(-AMOUNT_MICROS));
    },
    async close() {
      redis.close();
    },
  };
}
