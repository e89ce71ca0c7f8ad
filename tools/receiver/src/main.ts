import { join, relative } from 'node:path';
import { loadIdentity } from './identity.ts';
import { startReceiver } from './receiver.ts';

const DIRECTORY = join('.tollkeeper', 'receiver');
const PORT = 9443;

const identity = await loadIdentity(DIRECTORY);
try {
  const { url } = await startReceiver(identity, PORT, (line) => console.log(line));
  console.log(`Receiver of webhooks, until Ctrl-C. Let Tollkeeper send here, and trust its certificate:

  TOLLKEEPER_ALLOW_CIDRS=127.0.0.1/32 NODE_EXTRA_CA_CERTS=${relative('', identity.certificateFile)} npm start

and make a channel with

  HOOK=${url} SECRET=${identity.secret}
`);
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
  console.error(`Port ${PORT} is taken. Does a receiver run in another terminal?`);
  process.exitCode = 1;
}
