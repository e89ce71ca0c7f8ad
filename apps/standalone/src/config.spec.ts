import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretSettings } from '@tollkeeper/runtime';
import { standaloneConfig } from './config.ts';

it('has every setting in the table of the README, and no other there', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const [, table = ''] = /^## Settings\n(.*?)^## /ms.exec(readme) ?? [];
  const said = [...table.matchAll(/^\| (`.+?) +\|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  // The table links to the page with the OTEL variables; libs/embedded-mongo reads MONGOD_BINARY.
  const settings = Object.keys(standaloneConfig.shape).filter((name) => !name.startsWith('OTEL_'));
  const expected = [...settings, 'MONGOD_BINARY'].sort();
  expect(said.filter((name) => !name?.startsWith('OTEL_')).sort()).toEqual(expected);
});

it('lets every secret come from a file, of which the page about deployments lists all', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/deployment.md'), 'utf8');
  const [, list = ''] = /on the standalone for (.*?)\./s.exec(page) ?? [];
  const said = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(said.sort()).toEqual(secretSettings(standaloneConfig).sort());
});
