import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findJava } from './java.ts';
import { findKafkaJars } from './kafka.jars.ts';

describe('what a broker needs', () => {
  let root: string;
  let env: NodeJS.ProcessEnv;
  const lines: string[] = [];
  const find = () =>
    findKafkaJars({ cacheDirectory: join(root, 'cache'), env, onProgress: (line) => void lines.push(line) });

  /** Puts a program on the PATH. */
  async function install(name: string, script: string): Promise<void> {
    await writeFile(join(root, 'bin', name), `#!/bin/sh\n${script}`, { mode: 0o755 });
  }

  /** A Maven that "downloads" one jar and counts its runs. */
  const installMaven = () =>
    install(
      'mvn',
      `for argument; do case "$argument" in -DoutputDirectory=*) directory=\${argument#*=} ;; esac; done
echo run >> "${root}/runs"
echo jar > "$directory/kafka.jar"\n`,
    );

  beforeEach(async () => {
    lines.length = 0;
    root = await mkdtemp(join(tmpdir(), 'tollkeeper-jars-'));
    await mkdir(join(root, 'bin'));
    env = { PATH: join(root, 'bin') };
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('is fetched once with Maven, however many ask at the same time, and then found in the cache', async () => {
    await installMaven();
    const [jars, again] = await Promise.all([find(), find()]);
    expect(again).toBe(jars);
    expect(await readdir(jars)).toEqual(['kafka.jar']);
    expect(await find()).toBe(jars);
    expect(await readFile(join(root, 'runs'), 'utf8')).toBe('run\n');
    expect(await readdir(join(root, 'cache'))).toHaveLength(1);
    expect(lines[0]).toContain('Downloading Apache Kafka');
  });

  it('says what to install when Maven is missing', async () => {
    await expect(find()).rejects.toThrow(/`mvn` is not on the PATH. Install it .*maven/);
    expect(await readdir(join(root, 'cache'))).toEqual([]);
  });

  it('says what Maven said when it can not fetch', async () => {
    await install('mvn', 'echo "[ERROR] no repository answers"; exit 1\n');
    await expect(find()).rejects.toThrow(/could not fetch Apache Kafka: \[ERROR\] no repository answers/);
    expect(await readdir(join(root, 'cache'))).toEqual([]);
  });

  it('is Java 17 or later, and an older or missing one is named with what to install', async () => {
    await expect(findJava(env)).rejects.toThrow(/needs Java 17 or later, but java does not run.*Install a JDK/);
    await install('java', 'echo \'openjdk version "11.0.2" 2019-01-15\' >&2\n');
    await expect(findJava(env)).rejects.toThrow('java is version 11');
    await install('java', 'echo \'openjdk version "21.0.2" 2024-01-16\' >&2\n');
    expect(await findJava(env)).toBe('java');
    await expect(findJava({ ...env, JAVA_HOME: '/nowhere' })).rejects.toThrow('/nowhere/bin/java does not run');
  });
});
