import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { loadConfig } from '@tollkeeper/runtime';
import { type MailServerOptions, startMailServer } from '@tollkeeper/testing/mail-server';
import { z } from 'zod';
import type { Mail } from './mail.ts';
import { mailFields } from './mail.fields.ts';
import { createSmtpSender } from './smtp.sender.ts';
import { smtpUrl } from './smtp.url.ts';

const MAIL = { to: 'ada@example.com', subject: 'A subject', text: 'A text\n' };
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function newServer(options: MailServerOptions) {
  const server = await startMailServer(options);
  stops.push(server.stop);
  return server;
}

const LIMITS = { connectMs: 2_000, attemptMs: 3_000 };
/** The message for operators, without the words of the server, which contain the user. */
const REFUSED_LOG_IN = 'EAUTH 535: The mail server refuses the log-in. Check user and password of SMTP_URL';
const never = new AbortController().signal;
const send = (url: string, mail: Mail = MAIL, stopped = never) =>
  createSmtpSender({ server: smtpUrl.parse(url), from: 'tollkeeper@example.com' }, LIMITS)(mail, stopped);

/** A server that sends what `speak` writes, and closes with the test. */
async function newListener(speak: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    speak(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  return `smtp://127.0.0.1:${port}?tls=none`;
}

describe('a mail', () => {
  it.each([
    ['implicit', 'smtps', ''],
    ['starttls', 'smtp', ''],
    ['none', 'smtp', '?tls=none'],
  ] as const)('is handed in with %s TLS as the address says, by who logs in', async (tls, scheme, search) => {
    const server = await newServer({ tls, user: 'a@b' });
    await send(`${scheme}://a%40b:secret@127.0.0.1:${server.port}${search}`);
    expect(server.received).toMatchObject([
      { from: 'tollkeeper@example.com', to: ['ada@example.com'], text: MAIL.text, encrypted: tls !== 'none' },
    ]);
    expect(server.received[0]?.headers).toMatch(/^From: Tollkeeper <tollkeeper@example\.com>$/m);
    expect(server.received[0]?.headers).toMatch(/^Auto-Submitted: auto-generated$/m);
  });

  it.each([
    ['a server that has no STARTTLS', { tls: 'none' }, 'smtp', '^E(SOCKET|TLS)'],
    ['a certificate that nobody has signed', { tls: 'starttls', trusted: false }, 'smtp', 'self-signed certificate'],
    ['that one, with TLS from the beginning', { tls: 'implicit', trusted: false }, 'smtps', 'self-signed certificate'],
    ['a user that the server does not know', { tls: 'starttls', user: 'other' }, 'smtp', `^${REFUSED_LOG_IN}$`],
  ] as const)('is not sent, and may be tried again: %s', async (_what, options, scheme, reason) => {
    const server = await newServer(options);
    const sent = send(`${scheme}://user:secret@127.0.0.1:${server.port}`);
    await expect(sent).rejects.toMatchObject({
      name: 'MailFailure',
      final: false,
      ofRecipient: false,
      message: expect.stringMatching(reason),
    });
    expect(server.received).toEqual([]);
  });

  it('is refused permanently when the server knows nobody of that address, which no reason repeats', async () => {
    const server = await newServer({});
    const url = `smtp://127.0.0.1:${server.port}?tls=none`;
    server.behave('is busy');
    await expect(send(url)).rejects.toMatchObject({ final: false, ofRecipient: true, message: 'EENVELOPE 451' });
    server.behave('refuses');
    await expect(send(url)).rejects.toMatchObject({ final: true, ofRecipient: true, message: 'EENVELOPE 550' });
  });

  it('is tried again without a word about the log-in when the server cannot check it just then', async () => {
    const url = await newListener((socket) => {
      socket.write('220 ready\r\n');
      socket.on('data', (chunk: Buffer) => {
        socket.write(chunk.toString().startsWith('EHLO') ? '250 AUTH PLAIN\r\n' : '454 4.7.0 later\r\n');
      });
    });
    const sent = send(url.replace('//', '//user:secret@'));
    await expect(sent).rejects.toMatchObject({ final: false, message: 'EAUTH 454' });
  });

  it('gives a server up that is not there, or says nothing', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    await expect(send(`smtp://127.0.0.1:${port}?tls=none`)).rejects.toMatchObject({
      final: false,
      message: expect.stringMatching(/^ETIMEDOUT: /),
    });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    await expect(send(`smtp://127.0.0.1:${port}?tls=none`)).rejects.toMatchObject({ final: false });
  });

  it('gives a server up that keeps answering, and does not end', async () => {
    const url = await newListener((socket) => {
      socket.write('220 ready\r\n');
      const timer = setInterval(() => socket.write('250-and more\r\n'), 100);
      socket.on('close', () => clearInterval(timer));
    });
    await expect(send(url)).rejects.toMatchObject({ final: false, message: expect.stringMatching(/^ETIMEDOUT: /) });
  });

  it('waits longer for a server that has taken the text, since the mail might come twice', async () => {
    const url = await newListener((socket) => {
      socket.write('220 ready\r\n');
      let isText = false;
      socket.on('data', (chunk: Buffer) => {
        const said = chunk.toString();
        if (isText && said.endsWith('\r\n.\r\n')) setTimeout(() => socket.write('250 taken\r\n'), 2_300);
        else if (!isText) socket.write(said === 'DATA\r\n' ? '354 go on\r\n' : '250 yes\r\n');
        isText ||= said === 'DATA\r\n';
      });
    });
    await send(url);
  });

  it('is given up at once by who stops', async () => {
    const stopping = new AbortController();
    const url = await newListener(() => setTimeout(() => stopping.abort(), 100));
    await expect(send(url, MAIL, stopping.signal)).rejects.toMatchObject({ final: false, message: 'EABORT' });
  });

  it('has the headers that we wrote and one receiver, whatever stands in the address', async () => {
    const server = await newServer({});
    const url = `smtp://127.0.0.1:${server.port}?tls=none`;
    for (const to of [
      'ada@example.com\r\nBcc: eve@example.com',
      'ada@example.com, eve@example.com',
      'Ada <eve@example.com>',
      'ada@example.com>\r\nRCPT TO:<eve@example.com',
    ]) {
      await send(url, { ...MAIL, to }).catch(() => undefined);
    }
    await send(url, { ...MAIL, subject: 'A\r\nBcc: eve@example.com\r\n\r\nB' });
    expect(server.received.flatMap(({ to }) => to).filter((to) => to.startsWith('eve'))).toEqual([]);
    for (const { to, headers } of server.received) {
      expect(to).toHaveLength(1);
      expect(headers).not.toMatch(/^Bcc:/im);
    }
  });

  it('belongs to a thread, and has its HTML and its further headers', async () => {
    const server = await newServer({});
    const url =
      'https://tollkeeper.example.com/api/v1/alert-mails/tk_mailstop_an-address-that-fills-a-line-and-more:stop';
    const further = { 'List-Unsubscribe': `<${url}>` };
    const mail = { ...MAIL, html: '<p>A text</p>', id: 'a.2@example.com', thread: 'a.1@example.com', headers: further };
    await send(`smtp://127.0.0.1:${server.port}?tls=none`, mail);
    const [{ headers, text } = { headers: '', text: '' }] = server.received;
    expect(headers.split('\r\n')).toEqual(
      expect.arrayContaining([
        'Message-ID: <a.2@example.com>',
        'In-Reply-To: <a.1@example.com>',
        'References: <a.1@example.com>',
        'Auto-Submitted: auto-generated',
        `List-Unsubscribe: <${url}>`,
        expect.stringMatching(/^Content-Type: multipart\/alternative;/),
      ]),
    );
    expect(text).toContain('<p>A text</p>');
  });
});

describe('the address of a mail server', () => {
  it.each([
    ['smtps://mail.example.com', { port: 465, tls: 'implicit', auth: undefined }],
    ['smtp://mail.example.com', { port: 587, tls: 'starttls', auth: undefined }],
    ['smtp://mail.example.com:2525', { port: 2525, tls: 'starttls' }],
    ['smtp://mail.example.com?tls=none', { port: 25, tls: 'none' }],
    ['smtp://a%40b:p%2Fw%3A@[::1]:587', { host: '::1', auth: { user: 'a@b', pass: 'p/w:' } }],
  ])('%s', (text, expected) => {
    expect(smtpUrl.parse(text)).toMatchObject(expected);
  });

  it.each([
    'https://mail.example.com',
    'mail.example.com',
    'smtps://mail.example.com?tls=none',
    'smtp://mail.example.com?tls=NONE',
    'smtp://mail.example.com?rejectUnauthorized=false',
    'smtp://mail.example.com/path',
    'smtp://mail.example.com#x',
    'smtp://user@mail.example.com',
    'smtp://us%zz:pw@mail.example.com',
    'smtp:',
    'smtp:///',
  ])('is not %s', (text) => {
    expect(smtpUrl.safeParse(text).success).toBe(false);
  });

  it.each(['smtp://mail.example.com:0', 'smtps://user:secret@mail.example.com:00'])(
    '%s is refused with the setting and the ports that there are',
    (SMTP_URL) => {
      const env = { SMTP_URL, MAIL_FROM: 'tollkeeper@example.com' };
      expect(() => loadConfig(z.object(mailFields), env)).toThrow(
        'SMTP_URL: must have a port from 1 to 65535, such as 587, or none for the usual one. Expected: mail server',
      );
    },
  );

  it.each(['p/w', 'p?w', 'p#w', 'p%w'])('with the password %s says that it has to be encoded', (password) => {
    const { error } = smtpUrl.safeParse(`smtp://user:${password}@mail.example.com`);
    expect(error?.issues[0]?.message).toContain('percent-encoded');
  });
});
