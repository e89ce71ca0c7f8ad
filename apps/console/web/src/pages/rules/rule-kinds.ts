import type { Api } from '@tollkeeper/client';
import { parseMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';

const MAX_EVENTS = 100_000;
const words = text.rules.form;

export type RuleKind = Api.AlertRule['rule_kind'];

/** The fields as typed. */
export interface RuleForm {
  name: string;
  description: string;
  kind: RuleKind;
  eventTypes: readonly string[];
  percents: readonly number[];
  /** As typed, one per line. */
  labels: string;
  threshold: string;
  amount: string;
  windowMinutes: string;
  scopeType: Api.AlertRule['scope_type'];
  /** Empty for any agent. */
  agentId: string;
  severity: Api.AlertRule['severity'];
  pauseMinutes: string;
  channelIds: readonly string[];
}

type Problems = Partial<Record<keyof RuleForm, string>>;

/** The form of a kind of rule. */
interface FormOfKind {
  /** The field with the threshold. */
  threshold: 'threshold' | 'amount' | null;
  windowLabel: string;
  /** The only events that such a rule counts; null if the form asks for them. */
  eventTypes: readonly string[] | null;
  problems(form: RuleForm): Problems;
  /** The threshold of a form without problems. */
  config(form: RuleForm): Partial<Pick<Api.AlertRuleInput['rule_config'], 'threshold' | 'threshold_micros'>>;
}

export const RULE_KINDS: Record<RuleKind, FormOfKind> = {
  event_count_gte: {
    threshold: 'threshold',
    windowLabel: words.window,
    eventTypes: null,
    problems({ threshold }) {
      const events = Number(threshold);
      const isGood = Number.isInteger(events) && events >= 1 && events <= MAX_EVENTS;
      return isGood ? {} : { threshold: words.thresholdBad };
    },
    config: ({ threshold }) => ({ threshold: Number(threshold) }),
  },
  first_occurrence: {
    threshold: null,
    windowLabel: words.windowFirst,
    eventTypes: null,
    problems: () => ({}),
    config: () => ({}),
  },
  spend_gte: {
    threshold: 'amount',
    windowLabel: words.window,
    eventTypes: ['spend.settled'],
    problems: ({ amount }) => ((parseMoney(amount) ?? 0) > 0 ? {} : { amount: words.amountBad }),
    config: ({ amount }) => ({ threshold_micros: parseMoney(amount) ?? 0 }),
  },
};

/** In the order of the form. */
export const KINDS = Object.keys(RULE_KINDS) as RuleKind[];
