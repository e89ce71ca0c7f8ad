import type { ReadRecord } from '@tollkeeper/event-log';
import {
  endingSpans,
  headersOf,
  type Span,
  startSpan,
  type TraceHeaders,
  traceHeadersOf,
  type Tracer,
} from '@tollkeeper/runtime';
import { toAlert } from '../domain/alert.ts';
import type { CountableEvent } from '../domain/event.ts';
import type { Decision } from '../domain/evaluator.ts';
import type { AlertTraces } from '../store/evaluation.recorder.ts';

/** Continues the trace of an event in the alert that it fires. */
export interface FireTraces {
  /** Keeps the trace of an event for as long as the event itself is in memory. */
  remember(event: CountableEvent, headers: ReadRecord['headers']): void;
  /** Runs `save` with the trace of each alert. While it runs, the alert has a span in the trace of its event. */
  whileSaved(decisions: readonly Decision[], save: (traces: AlertTraces) => Promise<void>): Promise<void>;
}

const UNTRACED: AlertTraces = new Map();

export function createFireTraces(tracer: Tracer | undefined): FireTraces {
  if (tracer === undefined) return { remember() {}, whileSaved: (_decisions, save) => save(UNTRACED) };
  const origins = new WeakMap<CountableEvent, TraceHeaders>();

  const startFire = (decision: Decision): [string, Span] => {
    const { rule, event } = decision;
    const alertId = toAlert(decision).id;
    const attributes = {
      'tollkeeper.tenant_id': rule.tenantId,
      'tollkeeper.rule_id': rule.id,
      'tollkeeper.alert_id': alertId,
    };
    const parent = origins.get(event) ?? {};
    return [alertId, startSpan(tracer, { name: 'fire alert', kind: 'consumer', parent, attributes })];
  };

  return {
    remember(event, headers) {
      const origin = traceHeadersOf(headers);
      if (origin !== undefined) origins.set(event, origin);
    },
    async whileSaved(decisions, save) {
      const fired = decisions.filter(({ outcome }) => outcome === 'fired');
      const spans = new Map(fired.map(startFire));
      const traces = new Map([...spans].map(([id, span]) => [id, headersOf(span)]));
      await endingSpans([...spans.values()], () => save(traces));
    },
  };
}
