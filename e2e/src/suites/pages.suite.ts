import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anonymous, openApiOf } from '../api.client.ts';
import type { TargetOf } from '../target.ts';

/** Written by `npm run openapi`; later releases are checked against it. */
const COMMITTED = join(import.meta.dirname, '../../../docs/openapi.json');

export function describePages(target: TargetOf): void {
  describe('the API describes itself', () => {
    it('in one OpenAPI 3.1 document for all services', async () => {
      const document = await openApiOf(target());
      expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) });
      for (const path of [
        '/api/v1/auth/login',
        '/api/v1/workspaces',
        '/api/v1/members',
        '/api/v1/invitations/{invitation}:accept',
        '/api/v1/alert-mails/{token}:stop',
        '/api/v1/agents',
        '/api/v1/dashboard/spend/series',
        '/api/v1/management/workspace-keys/{id}:revoke',
        '/api/v1/events',
        '/api/v1/execute',
      ]) {
        expect(document.paths).toHaveProperty([path]);
      }
    });

    it('which is the one in docs/openapi.json', async () => {
      const { text } = await anonymous(target()).call({ path: '/openapi.json' });
      expect(JSON.parse(text)).toEqual(JSON.parse(await readFile(COMMITTED, 'utf8')));
    });

    it('and on a page for people, which loads nothing from elsewhere', async () => {
      const { status, headers, text } = await anonymous(target()).call({ path: '/docs' });
      expect(status).toBe(200);
      expect(headers['content-type']).toContain('text/html');
      expect(text).not.toMatch(/(src|href)="https?:/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-powered-by']).toBeUndefined();
    });
  });
}
