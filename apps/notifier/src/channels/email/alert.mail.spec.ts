import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { testMessage } from '../../domain/message.ts';
import { alertMail } from './alert.mail.ts';

const OPTIONS = {
  ...{ to: 'ada@example.com', readerId: 'r1', domain: 'example.com' },
  ...{ stopUrl: 'https://t.test/alert-mail#tk_mailstop_x', oneClickUrl: 'https://t.test/api/v1/alert-mails/x:stop' },
};
const LINKS = { url: 'https://t.test/w/demo/api/v1/alerts/a', page: 'https://t.test/w/demo/alerts?alert=a' };
const message = testMessage(provenTenantId('ws_1'), LINKS, Date.UTC(2026, 10, 30));
const mailOf = (rule_name: string, type = 'alert.fired', id = 'alrt_1') =>
  alertMail({ ...message, id: `ntf_${type}`, type, alert: { ...message.alert, id, rule_name } }, OPTIONS);

it('text that people typed is on one line of the text and escaped in the HTML of a mail', () => {
  const name = 'A <script>alert(1)</script> & "x"\r\nBcc: eve@example.com\r\n\r\n<img src=x onerror=\'y\'>';
  const { subject, text, html } = mailOf(name);
  const shown = 'A <script>alert(1)</script> & "x" Bcc: eve@example.com <img src=x onerror=\'y\'>';
  expect(subject).toBe(`Alert (info): ${shown}`);
  expect(text.split('\n')[0]).toBe(subject);
  expect([...new Set(html!.match(/<[a-z]+/g))].sort()).toEqual(['<a', '<body', '<h', '<html', '<p']);
  expect([text, html]).toEqual([LINKS.page, LINKS.page].map((page) => expect.stringContaining(page)));
  expect(html).toContain('A &#60;script&#62;alert(1)&#60;/script&#62; &#38; &#34;x&#34; Bcc');
});

it('the mails of an alert are one thread, with one subject, and another alert begins its own', () => {
  const [fired, resolved, other] = [mailOf('R'), mailOf('R', 'alert.resolved'), mailOf('R', 'alert.fired', 'alrt_2')];
  expect(fired).toMatchObject({ subject: 'Alert (info): R', id: 'alrt_1.r1@example.com' });
  expect(fired.thread).toBeUndefined();
  expect(resolved).toMatchObject({
    subject: 'Re: Alert (info): R',
    thread: fired.id,
    id: 'ntf_alert.resolved.r1@example.com',
  });
  expect(resolved.text).toMatch(/^Resolved \(info\): R\n/);
  expect(other.id).not.toBe(fired.id);
});

it('a Message-ID has no character of an id that could end a header', () => {
  expect(mailOf('R', 'alert.fired', 'a>\r\nBcc: eve@example.com').id).toBe('a---Bcc--eve-example.com.r1@example.com');
});

it('every alert mail says how to stop, to people and to mail programs (RFC 8058)', () => {
  const { text, html, headers } = mailOf('R');
  expect(headers).toEqual({
    'List-Unsubscribe': `<${OPTIONS.oneClickUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  expect(text).toContain(`Stop these mails:\n${OPTIONS.stopUrl}\n`);
  expect(html).toContain(`<a href="${OPTIONS.stopUrl}">Stop these mails</a>`);
});
