import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { ROOT } from '../src/render.ts';
import { hadolint } from '../src/tools.ts';

it('the Dockerfile has nothing that hadolint warns of', async () => {
  expect(await hadolint([join(ROOT, 'Dockerfile')])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});
