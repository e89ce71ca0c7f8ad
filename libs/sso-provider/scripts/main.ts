import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { CLIENT_ID } from '../src/provider.ts';
import { startProvider } from '../src/server.ts';

const USAGE = 'npm run sso:provider -- [--port 4000] [--tls] [--claims-in-id-token] [--directory .tollkeeper/sso]';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4000' },
    tls: { type: 'boolean', default: false },
    'claims-in-id-token': { type: 'boolean', default: false },
    directory: { type: 'string', default: join('.tollkeeper', 'sso') },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(USAGE);
else await run();

async function run(): Promise<void> {
  const { port, tls, directory, 'claims-in-id-token': claimsInIdToken } = values;
  const options = { port: Number(port), tls, claimsInIdToken, onError: console.error };
  const running = await startProvider(options).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    console.error(`Port ${port} is taken. Choose another one: ${USAGE}`);
    process.exit(1);
  });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const certificateFile = join(directory, 'certificate.pem');
  if (running.certificate !== null) await writeFile(certificateFile, running.certificate);
  const settings = {
    id: 'try',
    issuer: running.issuer,
    client_id: CLIENT_ID,
    client_secret: running.clientSecret,
    button_text: 'Log in with the provider for trying',
    scopes: ['openid', 'email', 'profile', 'groups'],
    ...(running.certificate !== null && { ca_file: certificateFile }),
    mapping: [
      { claim: 'groups', value: 'tollkeeper-owners', workspace: 'demo', role: 'owner' },
      { claim: 'groups', value: 'tollkeeper-*', workspace: 'demo', role: 'member' },
    ],
  };
  const file = join(directory, 'providers.json');
  await writeFile(file, JSON.stringify([settings], null, 2), { mode: 0o600 });
  console.log(`OpenID Connect provider at ${running.issuer}, until Ctrl-C. It asks nobody for a password.
Start Tollkeeper in another terminal:

  OIDC_PROVIDERS_FILE=${relative('', file)} OIDC_SIGN_UP=true npm start
`);
}
