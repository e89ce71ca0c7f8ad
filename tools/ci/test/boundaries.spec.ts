import { beforeAll, describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';
import { resolve } from 'node:path';
import tseslint from 'typescript-eslint';

const workspace = resolve(import.meta.dirname, '../../..');
const BOUNDARIES = '@nx/enforce-module-boundaries';
const PATH = 'no-restricted-syntax';
const DOMAIN = 'no-restricted-imports';

const FORBIDDEN = [
  ['a service imports another service', 'apps/ingest/src/x.ts', '@tollkeeper/keys', BOUNDARIES],
  ['a service reaches into another one by path', 'apps/ingest/src/x.ts', '../../keys/src/index.ts', BOUNDARIES],
  // eslint-disable-next-line no-restricted-syntax -- this is what it refuses
  ['a lib reaches into a tool by path', 'libs/http/src/x.ts', '../../../tools/release/src/keep.ts', PATH],
  ['a lib imports a service', 'libs/http/src/x.ts', '@tollkeeper/keys', BOUNDARIES],
  ['the kernel imports a lib', 'libs/kernel/src/x.ts', '@tollkeeper/runtime', BOUNDARIES],
  ['contracts imports a lib', 'libs/contracts/src/x.ts', '@tollkeeper/runtime', BOUNDARIES],
  ['product code imports the test kit', 'apps/keys/src/x.ts', '@tollkeeper/testing', BOUNDARIES],
  ['a service reads the table of all services', 'apps/keys/src/x.ts', '@tollkeeper/topology', BOUNDARIES],
  ['a service starts its own mongod', 'apps/keys/src/x.ts', '@tollkeeper/embedded-mongo', BOUNDARIES],
  ['a project imports a package that it does not declare', 'apps/ingest/src/x.ts', 'mongoose', BOUNDARIES],
  ['a domain imports the database driver', 'apps/keys/src/domain/x.ts', 'mongoose', DOMAIN],
  ['a domain imports a transport', 'apps/keys/src/domain/x.ts', '@tollkeeper/http', DOMAIN],
  ['a domain imports its store', 'apps/keys/src/domain/x.ts', '../store/key.store.ts', DOMAIN],
  ['a domain imports what is beside it', 'apps/keys/src/domain/x.ts', '../config.ts', DOMAIN],
  ['a folder of a domain imports a store', 'apps/keys/src/domain/a/x.ts', '../../store/key.store.ts', DOMAIN],
] as const;

const ALLOWED = [
  ['a service imports a lib', 'apps/keys/src/x.ts', '@tollkeeper/http'],
  ['a suite imports the test kit', 'apps/keys/src/x.spec.ts', '@tollkeeper/testing'],
  ['a suite of a lib under the test kit imports it', 'libs/mongo/src/x.int.spec.ts', '@tollkeeper/testing'],
  ['a domain imports the kernel', 'apps/keys/src/domain/x.ts', '@tollkeeper/kernel'],
  ['a folder of a domain imports the domain', 'apps/keys/src/domain/a/x.ts', '../key.ts'],
  ['standalone imports a service', 'apps/standalone/src/x.ts', '@tollkeeper/keys'],
  ['standalone reads the table of services', 'apps/standalone/src/x.ts', '@tollkeeper/topology'],
  ['e2e imports standalone', 'e2e/test/x.spec.ts', '@tollkeeper/standalone'],
] as const;

describe('import boundaries', () => {
  let eslint: ESLint;

  beforeAll(() => {
    // The probes exist only as text at a path, so rules with types, which read the disk, are off.
    eslint = new ESLint({ cwd: workspace, ignore: false, overrideConfig: tseslint.configs.disableTypeChecked });
  });

  async function rulesBrokenBy(source: string, path: string): Promise<string[]> {
    const [result] = await eslint.lintText(`import * as probe from '${source}';\nexport { probe };\n`, {
      filePath: resolve(workspace, path),
    });
    return result!.messages.map((message) => message.ruleId ?? message.message);
  }

  it.each(FORBIDDEN)('lint fails when %s', async (_case, path, source, rule) => {
    expect(await rulesBrokenBy(source, path)).toContain(rule);
  });

  it.each(ALLOWED)('lint passes when %s', async (_case, path, source) => {
    expect(await rulesBrokenBy(source, path)).toEqual([]);
  });

  it('lint fails on the fixture, which normal lint leaves out', async () => {
    const fixture = resolve(import.meta.dirname, '../fixtures/forbidden-import.ts');

    const [result] = await eslint.lintFiles(fixture);
    expect(result!.messages.map((message) => message.ruleId)).toEqual([BOUNDARIES]);
    expect(await new ESLint({ cwd: workspace }).isPathIgnored(fixture)).toBe(true);
  });
});
