import { createTollkeeper } from '@tollkeeper/client';
import { type LeaseLoad, spendLeases } from '../lease.load.ts';
import { announce } from './announce.ts';

// A gateway with leases, in a separate process, as gateways are.
const { TOLLKEEPER_URL: url = '', TOLLKEEPER_KEY: key = '' } = process.env;
const tollkeeper = createTollkeeper({ url, key, leases: true });
process.on('message', (load: LeaseLoad) => {
  void spendLeases(tollkeeper, load).then((result) => process.send?.(result));
});
process.on('SIGTERM', () => void tollkeeper.close().then(() => process.exit()));
announce('ready');
