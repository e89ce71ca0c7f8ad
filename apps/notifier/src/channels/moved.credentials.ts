import { AppError } from '@tollkeeper/kernel';
import { addressOf, credentialsOf, type Destination } from './channel.kinds.ts';

/**
 * Rejects a patch that moves a channel to another host without the secrets that would be sent there. Otherwise, an
 * admin who has never seen a secret could have it sent to a host of their own.
 */
export function refuseToMoveCredentials(before: Destination, after: Destination, patched: object): void {
  if (originOf(before) === originOf(after)) return;
  const kept = Object.keys(credentialsOf(after)).filter((name) => !(name in patched));
  if (kept.length === 0) return;
  const details = kept.map((name) => ({ path: `config.${name}`, message: 'must be sent again for another host' }));
  const message = `The channel would send ${kept.join(', ')} to another host. Send it again together with the new url.`;
  throw new AppError('invalid_request', message, { details });
}

function originOf(destination: Destination): string | null {
  const address = addressOf(destination);
  return address === null ? null : new URL(address).origin;
}
