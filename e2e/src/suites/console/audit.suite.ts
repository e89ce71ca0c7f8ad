import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { LOOKS } from '../../browser.ts';
import { rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import { newKey, newWorkspace } from '../../workspace.ts';

export function describeConsoleAudit(console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('the audit log, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('shows what was done to whom, chosen by filters that are in the address, and each record in full', async () => {
      const workspace = await newWorkspace(console.owner());
      const { id } = await newKey(console.owner(), workspace.slug, 'read_only');
      await console.owner().expect({
        method: 'PUT',
        path: `/api/v1/workspaces/${workspace.id}/budgets/workspace`,
        body: { daily_budget_usd_micros: 5_000_000 },
      });
      const { page, expectFit } = await console.begin(look);
      await eventually(async () => {
        await page.goto(`/w/${workspace.slug}/audit`);
        await page.getByRole('button', { name: 'Set the workspace budget' }).waitFor({ timeout: 2_000 });
      });
      await page.getByLabel('Action', { exact: true }).selectOption('key.create');
      await page.getByLabel('Target ID').fill(id);
      await page.getByRole('button', { name: 'Set the workspace budget' }).waitFor({ state: 'detached' });
      await rowOf(page, 'e2e read_only').getByRole('button', { name: 'Created a key' }).click();
      const drawer = page.getByRole('dialog', { name: 'Audit record' });
      await drawer.getByRole('cell', { name: 'read_only', exact: true }).waitFor();
      await drawer.getByText(id).waitFor();
      await expectFit();

      // A shared URL shows the same.
      const address = page.url();
      await page.goto('about:blank');
      await page.goto(address);
      await drawer.getByText(id).waitFor();
      await drawer.getByRole('button', { name: 'Close' }).click();
      expect(new URL(page.url()).searchParams.get('action')).toBe('key.create');
      expect(new URL(page.url()).searchParams.has('record')).toBe(false);
    });
  });

  describe('the audit log', () => {
    afterEach(() => console.closeAll());

    it('is exported by its filters, a record in each line', async () => {
      const workspace = await newWorkspace(console.owner());
      const { id } = await newKey(console.owner(), workspace.slug, 'admin');
      const { page } = await console.begin(LOOKS[0]!);
      await eventually(async () => {
        await page.goto(`/w/${workspace.slug}/audit?target=${id}`);
        await rowOf(page, 'e2e admin').waitFor({ timeout: 2_000 });
      });
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Export' }).click(),
      ]);
      const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toEqual(['key.create']);
    });
  });
}
