import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '@tollkeeper/runtime';
import { gatewayConfig } from './config.ts';

const env = {
  PUBLIC_URL: 'https://tollkeeper.example',
  CALLER_TOKEN_SECRET: 's'.repeat(32),
  IDENTITY_GRPC: 'identity:9090',
  IDENTITY_HTTP: 'http://identity:8080',
  DASHBOARD_HTTP: 'http://dashboard:8080',
  BUDGETS_HTTP: 'http://budgets:8080',
  ALERTS_HTTP: 'http://alerts:8080',
  NOTIFIER_HTTP: 'http://notifier:8080',
  KEYS_HTTP: 'http://keys:8080',
  INGEST_HTTP: 'http://ingest:8080',
  AUDIT_HTTP: 'http://audit:8080',
  ENFORCER_HTTP: 'http://enforcer:8080',
  CONSOLE_HTTP: 'http://console:8080',
};

describe('gatewayConfig', () => {
  it('needs every service, and has a default for the rest', () => {
    const { HTTP_PORT, TRUSTED_PROXIES } = loadConfig(gatewayConfig, env);
    expect([HTTP_PORT, TRUSTED_PROXIES]).toEqual([8080, []]);
    expect(() => loadConfig(gatewayConfig, { ...env, KEYS_HTTP: '' })).toThrow('KEYS_HTTP: is required but not set');
  });

  it('keeps answers about sessions for no longer than is decided', () => {
    expect(() => loadConfig(gatewayConfig, { ...env, SESSION_CACHE_MS: '5001' })).toThrow('from 0 to 5000');
  });

  it.each([
    ...[
      'proxy.example',
      '10.0.0',
      '/8',
      '10.0.0.0/33',
      '::1/129',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      '10.0.0.0/+8',
      '10.0.0.0/8.0',
    ],
  ])('takes no trusted proxy such as %s', (text) => {
    expect(() => loadConfig(gatewayConfig, { ...env, TRUSTED_PROXIES: `127.0.0.1, ${text}` })).toThrow(
      'TRUSTED_PROXIES: must be IP addresses',
    );
  });

  it('takes addresses and ranges of both families', () => {
    const networks = ['10.0.0.0/8', '::1', '2001:db8::/32', '192.0.2.1', '0.0.0.0/0', '192.0.2.1/32', '::1/128'];
    expect(loadConfig(gatewayConfig, { ...env, TRUSTED_PROXIES: networks.join() }).TRUSTED_PROXIES).toEqual(networks);
  });
});
