import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathsIn } from '../src/released-contracts.ts';

const root = resolve(import.meta.dirname, '../../..');
const { proto, releasedProto } = pathsIn(root);

/** Changes in `folder` that would break a peer with the proto files of `against`. */
function breaksIn(folder: string, against: string): string[] {
  const buf = join(root, 'node_modules/.bin/buf');
  const { stdout } = spawnSync(buf, ['breaking', '--against', against], { cwd: folder, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

it('the proto files break nothing of the last release', () => {
  expect(breaksIn(proto, releasedProto)).toEqual([]);
});

describe('a change of the proto files', () => {
  let copy: string;

  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'tollkeeper-proto-'));
    cpSync(proto, copy, { recursive: true, filter: (path) => !path.includes('node_modules') });
  });
  afterEach(() => rmSync(copy, { recursive: true }));

  /** The breaks after replacing `text` in the keys service. */
  function breaks(text: string | RegExp, replacement: string): string[] {
    const file = join(copy, 'tollkeeper/keys/v1/keys.proto');
    const before = readFileSync(file, 'utf8');
    const after = before.replace(text, replacement);
    expect(after).not.toBe(before);
    writeFileSync(file, after);
    return breaksIn(copy, proto);
  }

  it('is let by when it adds a field', () => {
    expect(breaks(/(message VerifyKeyResponse \{)/, '$1\n  string added = 99;')).toEqual([]);
  });

  it.each([
    ['removes an RPC', /rpc VerifyKey\([^;]*;/, '', 'VerifyKey'],
    ['gives a field another type', 'string tenant_id = 1;', 'int64 tenant_id = 1;', 'tenant_id'],
    ['gives a field another number', 'string tenant_id = 1;', 'string tenant_id = 9;', 'was deleted'],
  ])('is refused when it %s', (_case, text, replacement, message) => {
    expect(breaks(text, replacement)).toContainEqual(expect.stringContaining(message));
  });
});
