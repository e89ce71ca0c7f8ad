import { once } from 'node:events';
import type { Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { randomBase62 } from '@tollkeeper/kernel';
import { generate } from 'selfsigned';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Each header on its own line. */
  headers: string;
  text: string;
  encrypted: boolean;
}

export interface MailServerOptions {
  tls?: 'implicit' | 'starttls' | 'none';
  /** The password is `secret`. */
  user?: string;
  /** False for a self-signed certificate. */
  trusted?: boolean;
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** A real SMTP server, which stores received mails. */
export async function startMailServer({ tls = 'none', user, trusted = true }: MailServerOptions = {}) {
  const received: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let mood: 'takes' | 'hangs' | 'refuses' | 'is busy' = 'takes';
  /** The moods about single receivers. */
  const moods = new Map<string, 'refuses' | 'is busy'>();
  const server = new SMTPServer({
    ...(tls === 'none' ? {} : await (trusted ? trustedCertificate() : newCertificate())),
    secure: tls === 'implicit',
    hideSTARTTLS: tls === 'none',
    authOptional: user === undefined,
    closeTimeout: 0,
    onAuth({ username, password }, _session, done) {
      if (username === user && password === 'secret') done(null, { user });
      else done(Object.assign(new Error(`no ${username} here`), { responseCode: 535 }));
    },
    onConnect(_session, done) {
      if (mood !== 'hangs') done();
    },
    onRcptTo({ address }, _session, done) {
      const about = moods.get(address) ?? mood;
      if (about === 'refuses') done(Object.assign(new Error(`no ${address} here`), { responseCode: 550 }));
      else if (about === 'is busy') done(Object.assign(new Error(`${address} is busy`), { responseCode: 451 }));
      else done();
    },
    onData(stream, { envelope, secure }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const [headers = '', body = ''] = Buffer.concat(chunks)
          .toString('utf8')
          .split(/\r\n\r\n(.*)/s);
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          headers: headers.replaceAll(/\r\n[ \t]+/g, ' '),
          text: decode(body),
          encrypted: secure,
        });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.server.on(tls === 'implicit' ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  return {
    received,
    moods,
    port,
    /** Mails of one receiver, oldest first. */
    to: (email: string) => received.filter(({ to }) => to.includes(email)),
    behave(as: typeof mood) {
      mood = as;
      for (const socket of sockets) socket.destroy();
    },
    /** Number of open connections. */
    open: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}

/** The token in the link of a mail. */
export function tokenIn(mail: ReceivedMail | undefined): string {
  return /#(tk_[a-z]+_[\w-]+)\n/.exec(mail?.text ?? '')?.[1] ?? '';
}

/** Decodes quoted-printable, in which only = changes other text. */
function decode(body: string): string {
  return body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('\r\n', '\n');
}

interface Certificate {
  key: string;
  cert: string;
}

let trustedOne: Promise<Certificate> | undefined;

/** Has the effect of NODE_EXTRA_CA_CERTS at the start of the process. */
function trustedCertificate(): Promise<Certificate> {
  trustedOne ??= newCertificate().then((made) => {
    setDefaultCACertificates([...getCACertificates('default'), made.cert]);
    return made;
  });
  return trustedOne;
}

async function newCertificate(): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: `Mail ${randomBase62(10)}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  return { key: made.private, cert: made.cert };
}
