import { basename } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/**
 * The longest first, so that they do not run alone at the end. What attacks or overloads its own processes comes when
 * the browser is done. A suite that is not named here comes before them.
 */
const ORDER = [
  'console.tools',
  'restarts.kafka',
  'fleet.kafka',
  'start-order.kafka',
  'shared-log.kafka',
  'sso.tools',
  'one-sender.kafka',
  'fleet-process.kafka',
  'observability.kafka',
  'one-sender.int',
  'standalone.int',
  'lifecycle.int',
  'observability.int',
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    return Array.from(tests).sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ path }) {
  return ORDER.indexOf(basename(path, '.spec.ts'));
}
