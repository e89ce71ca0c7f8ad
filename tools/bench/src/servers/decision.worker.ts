import { randomUUID } from 'node:crypto';
import { createDecider, type DeciderSettings } from '../deciders/decider.settings.ts';
import { createDecisionLoader, type DecisionLoad } from '../decision.load.ts';
import { announce } from './announce.ts';

/** A request to the process, which answers each with one message. */
export type DecisionRequest = { run: DecisionLoad } | { free: number };

// The callers of one decider, in a separate process, so that their processor time is measured separately.
const decider = await createDecider(JSON.parse(process.env['DECIDER'] ?? '') as DeciderSettings);
const loader = createDecisionLoader(decider, randomUUID());
process.on('message', (request: DecisionRequest) => {
  const done = 'run' in request ? loader.run(request.run) : loader.free(request.free);
  void done.then((result) => process.send?.(result ?? null));
});
process.on('SIGTERM', () => void decider.close().then(() => process.exit()));
announce('ready');
