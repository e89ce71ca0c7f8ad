import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import generateService from '../src/service.generator.ts';
import { type Copy, copyWorkspace } from './copy.ts';

const run = promisify(execFile);
let copy: Copy;

beforeAll(async () => {
  copy = copyWorkspace();
  const options = { name: 'enforcement', purpose: 'What may be spent', grpc: true, mongodb: true };
  await generateService(copy.tree, { ...options, calls: 'identity,budgets' });
  copy.link(options.name);
});
afterAll(() => copy.remove());

it.each([
  ['tools/deployment', 'jest.config.js', 'topology'],
  ['tools/deployment', 'jest.integration.config.js', 'chart|compose|manifests|network'],
  ['tools/monitoring', 'jest.config.js', 'monitoring'],
  ['tools/monitoring', 'jest.integration.config.js', 'rules'],
  ['tools/release', 'jest.config.js', 'test/released'],
])('a new service leaves nothing to be found by the comparisons of %s, %s', async (project, config, suites) => {
  const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' };
  const jest = join(copy.root, 'node_modules/jest/bin/jest.js');
  const args = [jest, '--silent', '-c', config, '--testPathPatterns', suites];
  const { code, stderr } = await run(process.execPath, args, { cwd: join(copy.root, project), env }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: { code: number; stderr: string }) => error,
  );
  expect({ code, failures: code === 0 ? '' : stderr }).toEqual({ code: 0, failures: '' });
});
