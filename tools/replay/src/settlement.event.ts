import type { GatewayEvent } from '@tollkeeper/contracts';
import { MODEL_PRICES, priceOf } from './pricing.ts';
import type { TraceRow } from './trace.reader.ts';

/** A CloudEvents 1.0 event of type `spend.settled`, and its facts for the replay's report. */
export interface Settlement {
  event: Extract<GatewayEvent, { type: 'spend.settled' }>;
  line: number;
  amountMicros: number;
}

const CALLS_PER_RUN = 10;

/**
 * Makes the events of one trace. Their ids depend only on the file's hash and the row's line, so the same file always
 * gives the same ids, whatever the times, the speed or the number of agents. So nothing is counted twice.
 */
export function createSettlements(sha256: string, agents: number) {
  const trace = sha256.slice(0, 16);

  return function toSettlement(row: TraceRow, time: number): Settlement {
    const call = row.line - 2;
    const agent = call % agents;
    const run = Math.floor(call / agents / CALLS_PER_RUN);
    const price = MODEL_PRICES[agent % MODEL_PRICES.length] ?? MODEL_PRICES[0];
    const amountMicros = priceOf(price, row.contextTokens, row.generatedTokens);
    return {
      line: row.line,
      amountMicros,
      event: {
        specversion: '1.0',
        id: `${trace}:${row.line}`,
        source: '/tollkeeper/replay',
        type: 'spend.settled',
        time: new Date(time).toISOString(),
        data: {
          settlement_id: `${trace}:${row.line}`,
          run_id: `${trace}:run-${agent + 1}-${run + 1}`,
          agent_id: `trace-agent-${agent + 1}`,
          amount_micros: amountMicros,
          model: price.model,
          input_tokens: row.contextTokens,
          output_tokens: row.generatedTokens,
        },
      },
    };
  };
}
