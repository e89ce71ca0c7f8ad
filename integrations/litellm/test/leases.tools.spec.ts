import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { pythonWithLitellm } from './litellm.install.ts';

const TESTS = join(import.meta.dirname, 'python', 'leases_test.py');
const guarantees = [...readFileSync(TESTS, 'utf8').matchAll(/^(?:async )?def ([a-z]\w+)/gm)].map(
  ([, name = '']) => name,
);

describe('leases of the plug-in, in virtual time', () => {
  it.each(guarantees.map((name) => [name.replaceAll('_', ' '), name]))('%s', async (_, name) => {
    const env = {
      ...{ PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: join(import.meta.dirname, '..') },
    };
    const { stderr } = await promisify(execFile)(await pythonWithLitellm(), [TESTS, name], { env });
    expect(stderr).toBe('');
  });
});
