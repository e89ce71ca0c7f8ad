import { expect, it } from '@jest/globals';
import { createManagementApi, createTollkeeper } from '../src/index.ts';

const URL = 'http://127.0.0.1:1';
const create = (options: object) => createTollkeeper({ url: URL, key: 'ws_live_1.secret', ...options });

const OPTIONS: [string, (ms: number) => unknown][] = [
  ['timeoutMs', (timeoutMs) => create({ timeoutMs })],
  ['settleTimeoutMs', (settleTimeoutMs) => create({ settleTimeoutMs })],
  ['reporting.lingerMs', (lingerMs) => create({ reporting: { lingerMs } })],
  ['reporting.timeoutMs', (timeoutMs) => create({ reporting: { timeoutMs } })],
  ['timeoutMs', (timeoutMs) => createManagementApi({ url: URL, timeoutMs })],
];

it.each(OPTIONS)('%s that no timer waits for is refused at once, by its name', (name, make) => {
  for (const ms of [2 ** 31, Infinity, NaN, -1]) {
    expect(() => make(ms)).toThrow(new TypeError(`${name} must be 0 to 2147483647 milliseconds`));
  }
  for (const ms of [0, 2 ** 31 - 1]) make(ms);
});
