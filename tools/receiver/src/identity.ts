import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** Makes a receiver the same from run to run, so that Tollkeeper is configured only once. */
export interface Identity {
  /** PEM. */
  key: string;
  /** PEM, for 127.0.0.1. */
  certificate: string;
  certificateFile: string;
  /** `whsec_<base64>`. */
  secret: string;
}

const SECRET_BYTES = 32;
const VALID_DAYS = 3650;

/** The identity stored in `directory`, created if missing and readable only by its owner. */
export async function loadIdentity(directory: string): Promise<Identity> {
  const file = join(directory, 'identity.json');
  const certificateFile = join(directory, 'certificate.pem');
  if (!existsSync(file)) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(file, JSON.stringify(await makeIdentity()), { mode: 0o600 });
  }
  const identity = JSON.parse(await readFile(file, 'utf8')) as Omit<Identity, 'certificateFile'>;
  await writeFile(certificateFile, identity.certificate);
  return { ...identity, certificateFile };
}

async function makeIdentity(): Promise<Omit<Identity, 'certificateFile'>> {
  const { private: key, cert: certificate } = await generate([{ name: 'commonName', value: 'Tollkeeper receiver' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + VALID_DAYS * 86_400_000),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  return { key, certificate, secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}` };
}
