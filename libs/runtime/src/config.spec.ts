import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, loadConfig, secret } from './config.ts';
import {
  flagField,
  hostPortField,
  httpOriginField,
  integerField,
  listField,
  portField,
  secretField,
} from './config-fields.ts';

const schema = z.object({
  HTTP_PORT: portField().prefault('8080').describe('port of the API; default 8080'),
  WORKERS: integerField({ min: 1, max: 8 }).describe('number of workers, 1 to 8'),
  SECRET: secretField({ minLength: 32 }).describe('at least 32 characters, the same in every service'),
  IDENTITY_GRPC: hostPortField().describe('host:port of identity'),
  UPSTREAM: httpOriginField().optional().describe('origin of the service, such as http://budgets:8080'),
  VERBOSE: flagField().prefault('false').describe('true or false'),
  PROXIES: listField().prefault('').describe('addresses, separated by commas'),
});
const good = { WORKERS: '4', SECRET: 's'.repeat(32), IDENTITY_GRPC: 'identity:9090' };

function problemsOf(env: NodeJS.ProcessEnv): ConfigError {
  try {
    loadConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error('the environment was accepted');
}

describe('loadConfig', () => {
  it('turns text into typed values and fills in defaults', () => {
    expect(
      loadConfig(schema, { ...good, UPSTREAM: 'http://budgets:8080/', VERBOSE: 'true', PROXIES: '10.0.0.1, ::1' }),
    ).toEqual({
      HTTP_PORT: 8080,
      WORKERS: 4,
      SECRET: 's'.repeat(32),
      IDENTITY_GRPC: 'identity:9090',
      UPSTREAM: 'http://budgets:8080',
      VERBOSE: true,
      PROXIES: ['10.0.0.1', '::1'],
    });
  });

  it('reports all problems at once, each with the variable and what it takes', () => {
    const error = problemsOf({ HTTP_PORT: '80 80', WORKERS: '9', SECRET: 'short', UPSTREAM: 'http://x/path' });
    expect(error.problems.map(({ variable }) => variable)).toEqual([
      'HTTP_PORT',
      'WORKERS',
      'SECRET',
      'IDENTITY_GRPC',
      'UPSTREAM',
    ]);
    expect(error.message).toContain('WORKERS: must be a whole number from 1 to 8. Expected: number of workers, 1 to 8');
    expect(error.message).toContain('IDENTITY_GRPC: is required but not set. Expected: host:port of identity');
  });

  it('never repeats a value, since any of them may be a secret', () => {
    const env = {
      HTTP_PORT: 'hunter2-a',
      WORKERS: 'hunter2-b',
      SECRET: 'hunter2-c',
      IDENTITY_GRPC: 'hunter2-d',
      VERBOSE: 'hunter2-e',
    };
    expect(JSON.stringify(problemsOf(env).problems) + problemsOf(env).message).not.toContain('hunter2');
  });

  it('takes an empty variable for one that is not set', () => {
    expect(loadConfig(schema, { ...good, HTTP_PORT: '' }).HTTP_PORT).toBe(8080);
    expect(problemsOf({ ...good, SECRET: '' }).message).toContain('SECRET: is required but not set');
  });

  describe('of a secret in a file', () => {
    const schemaOfSecret = z.object({
      SECRET: secret(secretField({ minLength: 8 }).describe('at least 8 characters')),
      NAME: z.string().optional(),
    });
    let directory: string;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'tollkeeper-config-'));
    });
    afterEach(() => rm(directory, { recursive: true }));

    async function fileOf(text: string): Promise<string> {
      const file = join(directory, 'secret');
      await writeFile(file, text);
      return file;
    }
    const refusal = (env: NodeJS.ProcessEnv): unknown => {
      try {
        return loadConfig(schemaOfSecret, env);
      } catch (error) {
        return error instanceof ConfigError ? error.problems : error;
      }
    };

    it.each(['hunter2-hunter2', 'hunter2-hunter2\n', 'hunter2-hunter2\r\n'])(
      'takes it without the line break at its end: %j',
      async (text) => {
        expect(loadConfig(schemaOfSecret, { SECRET_FILE: await fileOf(text), SECRET: '' }).SECRET).toBe(
          'hunter2-hunter2',
        );
      },
    );

    it('refuses it beside the variable, and names both', async () => {
      const env = { SECRET_FILE: await fileOf('hunter2-hunter2'), SECRET: 'hunter2-hunter2' };
      expect(refusal(env)).toEqual([
        { variable: 'SECRET_FILE', message: 'is set together with SECRET; set only one of them' },
      ]);
    });

    it('says that the file is missing or empty, and nothing else of that setting', async () => {
      expect(refusal({ SECRET_FILE: join(directory, 'none') })).toEqual([
        { variable: 'SECRET_FILE', message: 'names a file that cannot be read (ENOENT)' },
      ]);
      expect(refusal({ SECRET_FILE: await fileOf('\n') })).toEqual([
        { variable: 'SECRET_FILE', message: 'names an empty file' },
      ]);
    });

    it('takes a file that is missing or empty for no setting where a dash says that it may be, and no other problem', async () => {
      const optional = z.object({ SECRET: secret(z.string().min(8).optional()) });
      const read = (file: string) => loadConfig(optional, { SECRET_FILE: `-${file}` }).SECRET;
      expect(read(join(directory, 'none'))).toBe(undefined);
      expect(read(await fileOf('\n'))).toBe(undefined);
      expect(read(await fileOf('hunter2-hunter2\n'))).toBe('hunter2-hunter2');
      expect(refusal({ SECRET_FILE: `-${directory}` })).toEqual([
        { variable: 'SECRET_FILE', message: 'names a file that cannot be read (EISDIR)' },
      ]);
      expect(refusal({ SECRET_FILE: `-${join(directory, 'none')}` })).toEqual([
        { variable: 'SECRET', message: expect.stringContaining('is required but not set') },
      ]);
    });

    it('says what is wrong with what is in it, and not what that is', async () => {
      const problems = refusal({ SECRET_FILE: await fileOf('hunter2') });
      expect(problems).toEqual([
        { variable: 'SECRET', message: 'must have at least 8 characters. Expected: at least 8 characters' },
      ]);
    });

    it('reads no file for a setting that is no secret', async () => {
      expect(loadConfig(schemaOfSecret, { SECRET: 'hunter2-hunter2', NAME_FILE: await fileOf('x') }).NAME).toBe(
        undefined,
      );
    });
  });
});
