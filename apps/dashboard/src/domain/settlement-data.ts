import type { SpendSettledEvent } from '@tollkeeper/contracts';
import type { EventData } from './event.ts';

/**
 * A settlement as it is stored. Each kind of tokens is a field, absent for none; `input_tokens` minus the cached ones
 * are the rest. Nothing shows its request, amount as sent and flags, which would take as much room as all else.
 */
export function toSettlementData({
  tokens: { cache_read, cache_write, cache_write_1h, reasoning } = {},
  request_id: _request,
  sender_amount: _amount,
  flags: _flags,
  ...shown
}: SpendSettledEvent['data']): EventData {
  return {
    ...shown,
    ...(cache_read && { cache_read_tokens: cache_read }),
    ...(cache_write && { cache_write_tokens: cache_write }),
    ...(cache_write_1h && { cache_write_1h_tokens: cache_write_1h }),
    ...(reasoning && { reasoning_tokens: reasoning }),
  };
}
