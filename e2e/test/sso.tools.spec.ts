import { afterAll, beforeAll, describe } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import { startSsoProvider, type SsoProvider } from '@tollkeeper/sso-provider';
import { useBrowser } from '../src/browser.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeConsoleSso } from '../src/suites/console/sso.suite.ts';

describe('single sign-on, in a browser', () => {
  let provider: SsoProvider;
  let nobodysPort: number;
  beforeAll(async () => {
    provider = await startSsoProvider();
    nobodysPort = await freePort();
  });
  afterAll(() => provider?.stop());
  const stage = useStandalone(() => {
    const { issuer } = provider;
    const [away, other] = [`http://127.0.0.1:${nobodysPort}`, issuer.replace('127.0.0.1', 'localhost')];
    const providers = [
      provider.settings({ button_text: 'Log in with Example' }),
      provider.settings({ id: 'away', issuer: away, button_text: 'Log in with one that is away' }),
      provider.settings({ id: 'other', issuer: other, button_text: 'Log in with another name' }),
    ];
    return { OIDC_PROVIDERS: JSON.stringify(providers), OIDC_SIGN_UP: 'true', LOG_LEVEL: 'info' };
  });
  const browser = useBrowser(() => stage.deployment().baseUrl);
  describeConsoleSso(stage, browser, () => provider);
});
