import { describe, expect, it } from '@jest/globals';
import { ConfigError, loadConfig } from '@tollkeeper/runtime';
import { identityConfig } from './config.ts';

const good = {
  MONGODB_URI: 'mongodb://m',
  CALLER_TOKEN_SECRET: 's'.repeat(32),
  PUBLIC_URL: 'https://tollkeeper.example.com',
};
const provider = {
  id: 'okta',
  issuer: 'https://example.okta.com',
  client_id: 'tollkeeper',
  client_secret: 'hunter2-hunter2',
  button_text: 'Log in with Okta',
};

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(identityConfig, { ...good, ...env });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ variable, message }) => `${variable} ${message.replace(/ Expected: .*/, '')}`);
  }
}

describe('the settings of single sign-on', () => {
  it('are off unless they are given', () => {
    expect(loadConfig(identityConfig, good)).toMatchObject({
      OIDC_PROVIDERS: [],
      OIDC_TRUSTED_DOMAINS: [],
      OIDC_SIGN_UP: false,
      OIDC_STRICT: false,
      PASSWORD_LOGIN: 'all',
    });
  });

  it('name every problem at once, and no secret', () => {
    const problems = problemsOf({
      OIDC_PROVIDERS: JSON.stringify([{ ...provider, issuer: 'http://example.com', ca_file: '' }]),
      OIDC_TRUSTED_DOMAINS: 'example.com, @example.com',
      OIDC_SIGN_UP: 'yes',
      PASSWORD_LOGIN: 'never',
    });
    expect(problems).toEqual([
      'OIDC_PROVIDERS [0].issuer must be https; http is allowed only for loopback addresses.',
      'OIDC_PROVIDERS [0].ca_file must not be empty.',
      'OIDC_TRUSTED_DOMAINS must be domains such as example.com, separated by commas.',
      'OIDC_SIGN_UP must be true or false.',
      'PASSWORD_LOGIN must be one of all, owners, none.',
    ]);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('say that the certificates of a provider are missing, or none', () => {
    const of = (file: string) => problemsOf({ OIDC_PROVIDERS: JSON.stringify([{ ...provider, ca_file: file }]) });
    expect(of('/nowhere/ca.pem')).toEqual(['OIDC_PROVIDERS [0].ca_file names a file that cannot be read (ENOENT).']);
    expect(of(import.meta.filename)).toEqual(['OIDC_PROVIDERS [0].ca_file names a file without a PEM certificate.']);
  });

  it('leave somebody a way in', () => {
    expect(problemsOf({ PASSWORD_LOGIN: 'owners' })).toEqual(['OIDC_PROVIDERS is required but not set.']);
    const OIDC_PROVIDERS = JSON.stringify([provider]);
    expect(problemsOf({ PASSWORD_LOGIN: 'owners', OIDC_PROVIDERS })).toEqual([]);
    expect(problemsOf({ PASSWORD_LOGIN: 'none', OIDC_PROVIDERS })).toEqual([
      'PASSWORD_LOGIN_BREAK_GLASS is required but not set.',
    ]);
    expect(problemsOf({ PASSWORD_LOGIN: 'none', OIDC_PROVIDERS, PASSWORD_LOGIN_BREAK_GLASS: 'owner' })).toEqual([]);
    const firstOwner = { FIRST_OWNER_EMAIL: 'owner@example.com', FIRST_OWNER_PASSWORD: 'nobody-guesses-this' };
    expect(problemsOf({ PASSWORD_LOGIN: 'none', OIDC_PROVIDERS, ...firstOwner })).toEqual([]);
  });
});
