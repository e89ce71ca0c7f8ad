import { describe, expect, it } from '@jest/globals';
import { LOG_RECORDS } from '@tollkeeper/contracts';
import { allCalls, SERVICES, settingsOf, TOPOLOGY } from './index.ts';

describe('the table of services', () => {
  it('has each service call only servers that there are, and never itself', () => {
    const wrong = allCalls().filter(({ from, to, port }) => from === to || !TOPOLOGY[to].serves.includes(port));
    expect(wrong).toEqual([]);
  });

  it('starts those that are called before their callers, unless the two call each other', () => {
    const place = (service: (typeof SERVICES)[number]) => SERVICES.indexOf(service);
    const calls = allCalls();
    const mutual = (from: string, to: string) => calls.some((call) => call.from === to && call.to === from);
    expect(calls.filter(({ from, to }) => place(from) < place(to) && !mutual(from, to))).toEqual([]);
    expect(SERVICES.at(-1)).toBe('gateway');
  });

  it('opens to everybody no server that the service has not', () => {
    for (const service of SERVICES)
      expect(TOPOLOGY[service].serves).toEqual(expect.arrayContaining([...TOPOLOGY[service].open]));
  });

  it('has a writer and a reader for each topic of the log, and no other topic', () => {
    for (const side of ['reads', 'writes'] as const) {
      const topics = SERVICES.flatMap((service) => TOPOLOGY[service][side]);
      expect([...new Set(topics)].sort()).toEqual(Object.keys(LOG_RECORDS).sort());
    }
  });

  it('gives each service the secrets that its entry names and no other, and the addresses of those alone that it calls', () => {
    const installation = {
      mongodbUri: 'mongodb://m',
      eventLog: { KAFKA_BROKERS: 'k:9092' },
      values: { CALLER_TOKEN_SECRET: 's', CHANNEL_ENCRYPTION_KEYS: 'c', PUBLIC_URL: 'http://p' },
      hostPort: (service: string, port: string) => `${service}:${port}`,
    };
    expect(settingsOf('ingest', installation)).toEqual({
      KAFKA_BROKERS: 'k:9092',
      CALLER_TOKEN_SECRET: 's',
      KEYS_GRPC: 'keys:grpc',
      IDENTITY_GRPC: 'identity:grpc',
      BUDGETS_GRPC: 'budgets:grpc',
    });
    expect(settingsOf('gateway', installation)).toMatchObject({
      PUBLIC_URL: 'http://p',
      IDENTITY_GRPC: 'identity:grpc',
      KEYS_HTTP: 'http://keys:http',
    });
    expect(settingsOf('gateway', installation)).not.toHaveProperty('CHANNEL_ENCRYPTION_KEYS');
  });
});
