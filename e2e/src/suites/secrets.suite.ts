import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { logIn } from '../api.client.ts';
import { knownSecrets, rememberSecret } from '../secrets.ts';
import type { TargetOf } from '../target.ts';

/** The last of all suites: by now, every kind of request has been made, good and bad. */
export function describeSecrets(target: TargetOf): void {
  describe('secrets', () => {
    it('no password, cookie or key, nor a hash of one, is in any log line of the whole run', async () => {
      await logIn(target(), target().owner);
      rememberSecret(target().apiKey);
      const logs = target().logs();
      expect(logs.split('\n').length).toBeGreaterThan(100);
      expect(placesOfSecrets(logs)).toEqual([]);
      expect(logs).not.toMatch(/\$argon2id\$/);
    });

    it('nor in a record of the audit log of any workspace', async () => {
      const owner = await logIn(target(), target().owner);
      const { workspaces } = await owner.expect<{ workspaces: { slug: string }[] }>({ path: '/api/v1/auth/me' });
      let records = '';
      for (const { slug } of workspaces) {
        records += (await owner.call({ path: `/w/${slug}/api/v1/audit?format=ndjson` })).text;
      }
      expect(records.split('\n').length).toBeGreaterThan(50);
      expect(placesOfSecrets(records)).toEqual([]);
    });
  });
}

/** The text before each secret, because the secret itself must not be in the test's output. */
function placesOfSecrets(text: string): string[] {
  const forms = knownSecrets().flatMap((secret) => {
    const digest = createHash('sha256').update(secret).digest();
    return [secret, digest.toString('hex'), digest.toString('base64'), digest.toString('base64url')];
  });
  expect(forms.length).toBeGreaterThan(40);
  return forms.flatMap((form) => {
    const at = text.indexOf(form);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 200), at)];
  });
}
