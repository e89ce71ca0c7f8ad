import type { Clock, TenantId } from '@tollkeeper/kernel';
import {
  createInstallationPrices,
  createPriceListGauge,
  createWorkspacePrices,
  type OperatorPriceConfig,
  type PricePeer,
} from '@tollkeeper/price-sources';
import { amountOf, bundledPrices, type TokenAmount, type TokenKinds } from '@tollkeeper/prices';
import type { Component, ServiceDeps } from '@tollkeeper/runtime';

/** The model of a call, as its gateway names it. */
interface ModelOfCall {
  model: string;
  /** Undefined if the gateway does not say it. */
  provider?: string | undefined;
}

interface UsedCall extends ModelOfCall {
  /** Kinds that are absent are 0. */
  tokens: Partial<TokenKinds>;
}

/** What is known of a call before it is made. */
interface PlannedCall extends ModelOfCall {
  /** The most tokens that the model may answer with: `max_tokens` of the request, or the cap of the gateway. */
  maxOutputTokens: number;
  /** Bytes of UTF-8 that are sent to the model. */
  inputBytes: number;
}

/**
 * Says what calls cost now, in USD micros: by the prices of the workspace, else of the operator's list, else of the
 * release. Both reject with `service_unavailable` while one of them has never been read, because it may have another
 * price.
 */
export interface CallPrices {
  /** What the tokens cost. Undefined if no price of the model is known. */
  amountOf(tenantId: TenantId, call: UsedCall): Promise<TokenAmount | undefined>;
  /**
   * The most that a call of text can cost at the default service tier: all output that it may have, and one token of
   * input for two bytes. Undefined if no price of the model is known.
   */
  estimateOf(tenantId: TenantId, call: PlannedCall): Promise<number | undefined>;
}

const BYTES_PER_TOKEN = 2;
const NO_TOKENS: TokenKinds = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

/** The share of a gateway's second for reading prices that are not known yet. */
const DEADLINE_MS = 100;

export interface CallPricesDeps extends Pick<ServiceDeps<OperatorPriceConfig>, 'config' | 'logger' | 'metrics'> {
  budgets: PricePeer;
  clock: Clock;
  /** Monotonic milliseconds. */
  now: () => number;
}

/** The component reads the operator's list. It needs no peer to start. */
export function createCallPrices({
  config,
  budgets,
  logger,
  metrics,
  clock,
  now,
}: CallPricesDeps): CallPrices & Component {
  const { overridesOf } = createWorkspacePrices({ budgets, deadlineMs: DEADLINE_MS, logger, now });
  const prices = createInstallationPrices({ config, logger, onRead: createPriceListGauge('enforcer', metrics) });
  // Read now, since it would delay decisions later.
  bundledPrices();

  async function amount(tenantId: TenantId, { model, provider, tokens }: UsedCall): Promise<TokenAmount | undefined> {
    const call = { responseModel: undefined, requestModel: model, provider, serviceTier: undefined, timeMs: clock() };
    const overrides = await overridesOf(tenantId);
    return amountOf({ ...call, tokens: { ...NO_TOKENS, ...tokens } }, { overrides, prices });
  }

  return {
    ...{ name: prices.name, start: prices.start, stop: prices.stop },
    amountOf: amount,
    async estimateOf(tenantId, { maxOutputTokens: output, inputBytes, ...call }) {
      const input = Math.ceil(inputBytes / BYTES_PER_TOKEN);
      return (await amount(tenantId, { ...call, tokens: { input, output } }))?.micros;
    },
  };
}
