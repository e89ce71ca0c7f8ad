import { describe, expect, it } from '@jest/globals';
import { affectedSince } from '../src/affected.ts';

describe('a CI run with a base', () => {
  it('knows the projects that the changes since then reach', async () => {
    const projects = await affectedSince('HEAD');
    for (const project of projects) expect(project).toMatch(/^(@tollkeeper\/)?[a-z0-9-]+$/);
  });

  it('stops at a base that is not there, and says what to do', async () => {
    await expect(affectedSince('0000000')).rejects.toThrow(/no commit 0000000 here\. Fetch it, or leave NX_BASE out/);
  });
});
