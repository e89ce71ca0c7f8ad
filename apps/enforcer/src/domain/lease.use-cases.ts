import { AppError } from '@tollkeeper/kernel';
import type { Leases } from './lease.ts';

const notYet = () => Promise.reject(new AppError('service_unavailable', 'Leases are not available yet.'));

/** The contract, before its implementation. */
export function createLeases(): Leases {
  return { grant: notYet, get: notYet, settle: notYet, renew: notYet, return: notYet };
}
