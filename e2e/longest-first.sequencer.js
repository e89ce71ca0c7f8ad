import { basename } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** The longest first, so that they do not run alone at the end. A suite that is not named here comes before them. */
const LONGEST_FIRST = [
  'console.tools',
  'fleet.kafka',
  'one-sender.kafka',
  'restarts.kafka',
  'shared-log.kafka',
  'standalone.int',
  'one-sender.int',
  'start-order.kafka',
  'lifecycle.int',
  'observability.kafka',
  'fleet-process.kafka',
  'observability.int',
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    return Array.from(tests).sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ path }) {
  return LONGEST_FIRST.indexOf(basename(path, '.spec.ts'));
}
