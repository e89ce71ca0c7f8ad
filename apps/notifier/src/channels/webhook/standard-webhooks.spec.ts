import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { webhookHeaders } from './standard-webhooks.ts';

const body = '{"type":"alert.fired","data":{"rule_name":"Überlauf ☂"}}';

describe('the headers of Standard Webhooks', () => {
  it('verify with the reference library when the secret is whsec_<base64>', () => {
    const secret = `whsec_${Buffer.from('thirty-two bytes of secret......').toString('base64')}`;
    expect(new Webhook(secret).verify(body, webhookHeaders('ntf_1', body, secret, Date.now()))).toEqual(
      JSON.parse(body),
    );
  });

  it.each(['any text at all – ünïcode', 'whsec_', 'whsec_not base64!', 'whsec_abcde'])(
    'verify with the UTF-8 bytes of the secret %s',
    (secret) => {
      const headers = webhookHeaders('ntf_1', body, secret, Date.now());
      expect(new Webhook(Buffer.from(secret), { format: 'raw' }).verify(body, headers)).toEqual(JSON.parse(body));
    },
  );

  it('do not verify with another body, id or secret', () => {
    const headers = webhookHeaders('ntf_1', body, 'secret', Date.now());
    const webhook = new Webhook('secret', { format: 'raw' });
    expect(() => webhook.verify(`${body} `, headers)).toThrow();
    expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'ntf_2' })).toThrow();
    expect(() => new Webhook('other', { format: 'raw' }).verify(body, headers)).toThrow();
  });

  it('carry no signature without a secret', () => {
    expect(webhookHeaders('ntf_1', body, null, 1_763_748_000_999)).toEqual({
      'webhook-id': 'ntf_1',
      'webhook-timestamp': '1763748000',
    });
  });
});
