import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { runCommand, workspaceRoot } from '../src/command.ts';

it('lint fails when two files import each other, even if only for types', async () => {
  const config = join(workspaceRoot, '.dependency-cruiser.js');
  const fixture = join(import.meta.dirname, '../fixtures/circle');

  const { exitCode, output } = await runCommand('depcruise', ['--config', config, '.'], {
    cwd: fixture,
    output: 'capture',
  });
  expect(stripVTControlCharacters(output)).toContain('no-circular: owner.ts');
  expect(exitCode).not.toBe(0);
});
