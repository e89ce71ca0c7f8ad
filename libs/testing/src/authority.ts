import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { randomBase62 } from '@tollkeeper/kernel';
import { generate } from 'selfsigned';

/** The certificate authority of a test run, and a certificate for all names and addresses in tests. */
export interface Authority {
  /** The authority's certificate in PEM, in the format of `NODE_EXTRA_CA_CERTS`. */
  ca: string;
  key: string;
  cert: string;
}

const NAMES = ['localhost', 'hooks.test', 'rebinding.test', 'two.test'];
const ADDRESSES = ['127.0.0.1', '::1'];

let authority: Promise<Authority> | undefined;

/** The authority of this process, trusted as if `NODE_EXTRA_CA_CERTS` had named it at the start. */
export function trustedAuthority(): Promise<Authority> {
  authority ??= createAuthority();
  return authority;
}

async function createAuthority(): Promise<Authority> {
  const common = { keyType: 'ec', algorithm: 'sha256' } as const;
  // Suites in one process trust all their authorities, which OpenSSL distinguishes by their names.
  const root = await generate([{ name: 'commonName', value: `Test authority ${randomBase62(10)}` }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const leaf = await generate([{ name: 'commonName', value: 'hooks.test' }], {
    ...common,
    ca: { key: root.private, cert: root.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: [
          ...NAMES.map((value) => ({ type: 2 as const, value })),
          ...ADDRESSES.map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
  });
  setDefaultCACertificates([...getCACertificates('default'), root.cert]);
  return { ca: root.cert, key: leaf.private, cert: leaf.cert };
}
