import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
const LEFT_OUT = ['node_modules', 'dist', '.git', '.nx', '.tollkeeper', '.cache', 'released'];
const PLAN = `---
'@tollkeeper/keys': minor
---

Keys can be renamed.
`;

describe('nx release', () => {
  let copy: string;

  async function command(name: string, ...args: string[]): Promise<string> {
    const env = {
      HOME: copy,
      PATH: [join(copy, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      NX_DAEMON: 'false',
      NX_ISOLATE_PLUGINS: 'false',
      GIT_CONFIG_GLOBAL: join(copy, '.git/test-config'),
    };
    const running = run(name, args, { cwd: copy, env, maxBuffer: 16 * 1024 * 1024, timeout: 200_000 });
    // Closed, because nobody would answer a question.
    running.child.stdin?.end();
    return (await running).stdout;
  }
  const read = (path: string) => readFileSync(join(copy, path), 'utf8');
  const versionOf = (app: string) => (JSON.parse(read(`apps/${app}/package.json`)) as { version: string }).version;
  let next: string;

  /** A clone of this workspace with its version plans and one more: a minor release of keys. */
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'tollkeeper-release-'));
    cpSync(root, copy, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    // npm maintains the lock file, and may call the registry for that.
    const nx = JSON.parse(read('nx.json')) as { release: { version: object } };
    Object.assign(nx.release.version, { versionActionsOptions: { skipLockFileUpdate: true } });
    writeFileSync(join(copy, 'nx.json'), JSON.stringify(nx));
    const plans = join(root, '.nx/version-plans');
    mkdirSync(join(copy, '.nx/version-plans'), { recursive: true });
    if (existsSync(plans)) cpSync(plans, join(copy, '.nx/version-plans'), { recursive: true });
    writeFileSync(join(copy, '.nx/version-plans/keys.md'), PLAN);
    await command('git', 'init', '--quiet', '--initial-branch=main');
    await command('git', 'config', 'user.email', 'release@example.com');
    await command('git', 'config', 'user.name', 'Release');
    await command('git', 'add', '--all');
    await command('git', 'commit', '--quiet', '--message', 'Start');
    const [major, minor] = versionOf('keys').split('.');
    next = `${major}.${Number(minor) + 1}.0`;
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it('accepts all plans, shows in a dry run what it would release, and changes nothing', async () => {
    const output = await command('nx', 'release', '--dry-run');

    expect(output).toContain(`+   "version": "${next}"`);
    expect(output).toContain(`Previewing an entry in apps/keys/CHANGELOG.md for @tollkeeper/keys@${next}`);
    expect(output).toContain('Keys can be renamed.');
    expect(await command('git', 'status', '--porcelain')).toBe('');
    expect(await command('git', 'tag')).toBe('');
  });

  it('releases one service alone, under a tag of its own, with its changelog and its contracts', async () => {
    const others = readdirSync(join(copy, 'apps')).filter((app) => app !== 'keys');
    const before = others.map(versionOf);
    const released = (file: string) => join('tools/release/released', file);
    const ofAlerts = released('records/alerts@0.1.0.json');
    mkdirSync(join(copy, released('records')), { recursive: true });
    writeFileSync(join(copy, released('openapi.json')), '{"paths":{}}\n');
    writeFileSync(join(copy, ofAlerts), '{"reads":{},"writes":{}}\n');
    await command('git', 'add', '--all');
    await command('git', 'commit', '--quiet', '--message', 'Have released before');

    await command('nx', 'release', '--skip-publish', '--projects=@tollkeeper/keys');

    expect((await command('git', 'tag')).trim()).toBe(`@tollkeeper/keys@${next}`);
    expect((await command('git', 'log', '-1', '--format=%s')).trim()).toBe(`Release @tollkeeper/keys ${next}`);
    expect(versionOf('keys')).toBe(next);
    expect(others.map(versionOf)).toEqual(before);
    expect(read('apps/keys/CHANGELOG.md')).toMatch(
      new RegExp(`## ${next.replaceAll('.', '\\.')} .*Keys can be renamed\\.`, 's'),
    );
    expect(readdirSync(join(copy, '.nx/version-plans'))).not.toContain('keys.md');
    expect(read(released('openapi.json'))).toBe(read('docs/openapi.json'));
    for (const file of ['proto.json', 'requests.json', `records/keys@${next}.json`])
      expect(read(released(file))).not.toBe('');
    expect(read(ofAlerts)).toBe('{"reads":{},"writes":{}}\n');
    expect(await command('git', 'status', '--porcelain')).toBe('');
  });
});
