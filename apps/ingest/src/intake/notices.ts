/** Sentences for the sender about calls that were taken otherwise than it may expect. */
export interface Notices {
  /** A cost in another currency. */
  foreign(): void;
  /** A call that is too old for limits. */
  late(): void;
  sentences(): readonly string[];
}

/** Most senders that a sentence names. */
const MAX_NAMED = 3;

export function createNotices(): Notices {
  const counts = { foreign: 0, late: 0 };
  return {
    foreign: () => void (counts.foreign += 1),
    late: () => void (counts.late += 1),
    sentences: () => [
      ...(counts.foreign > 0
        ? [`${callsAre(counts.foreign)} taken without the reported cost, which is not in USD.`]
        : []),
      ...(counts.late > 0 ? [`${callsAre(counts.late)} older than 3 days, too old to count in limits.`] : []),
    ],
  };
}

export function planNotice(calls: number): string {
  return (
    `${callsAre(calls)} taken without the reported plan, which the workspace does not have. ` +
    'Create the plan in Tollkeeper, or report the plan_key of another one.'
  );
}

const callsAre = (count: number) => (count === 1 ? '1 call is' : `${count} calls are`);

export function unpricedNotice(calls: number): string {
  const reported = calls === 1 ? '1 call counts' : `${calls} calls count`;
  return (
    `${reported} as 0 USD, with tokens but no cost of a model whose price is not known. ` +
    'Set the price of the model in Tollkeeper, or report the cost, for example by gen_ai.usage.cost in USD.'
  );
}

/** About senders that report only a sample of their calls, by the sources of their events. */
export function samplingNotice(sources: readonly string[]): string {
  const more = sources.length - MAX_NAMED;
  const named = [...sources.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return (
    `The figures are incomplete, because only a sample of the calls of ${named} is reported. ` +
    'Report all of them: use the sampler always_on, and no sampling processor in the Collector.'
  );
}
