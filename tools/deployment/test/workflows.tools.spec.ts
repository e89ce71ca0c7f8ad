import { describe, expect, it } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@tollkeeper/topology';
import { parse } from 'yaml';
import { ROOT } from '../src/render.ts';
import { actionlint } from '../src/tools.ts';

const FILES = globSync('.github/workflows/*.yml', { cwd: ROOT });

describe('the workflows', () => {
  it('have nothing that actionlint warns of', async () => {
    expect(FILES.length).toBeGreaterThan(0);
    const problems = await actionlint(FILES.map((file) => join(ROOT, file)));
    expect(problems).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('end within bounds, with no right that a job does not name', () => {
    for (const file of FILES) {
      const { permissions, jobs } = parse(readFileSync(join(ROOT, file), 'utf8')) as {
        permissions: object;
        jobs: Record<string, { 'timeout-minutes'?: number }>;
      };
      expect([file, permissions]).toEqual([file, { contents: 'read' }]);
      for (const [job, { 'timeout-minutes': minutes }] of Object.entries(jobs)) {
        expect([file, job, minutes]).toEqual([file, job, expect.any(Number)]);
      }
    }
  });

  it('release every service by the tag that nx release makes', () => {
    const { on } = parse(readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')) as {
      on: { push: { tags: string[] } };
    };
    const { release } = JSON.parse(readFileSync(join(ROOT, 'nx.json'), 'utf8')) as {
      release: { releaseTag: { pattern: string } };
    };
    const tags = SERVICES.map((service) =>
      release.releaseTag.pattern.replace('{projectName}', `@tollkeeper/${service}`).replace('{version}', '1.2.3'),
    );
    const [pattern = ''] = on.push.tags;
    const matches = new RegExp(`^${pattern.replaceAll('*', '[^/]*')}$`);
    expect(tags.filter((tag) => !matches.test(tag))).toEqual([]);
  });
});
