import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';

const ROOT = resolve(import.meta.dirname, '../../..');
const CACHE = '.cache/mutation';

interface JestConfig {
  globalSetup?: string;
  globalTeardown?: string;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { tests: { type: 'string' } } });
const targets = positionals.map((target) => target.replace(/\/$/, ''));
const [project, ...others] = new Set(targets.map((target) => target.split('/').slice(0, 2).join('/')));
if (project === undefined || others.length > 0) {
  console.error('Name files or folders of one project: npm run mutation -- libs/http/src/json-body.ts');
  process.exit(1);
}

process.chdir(ROOT);
process.env['NODE_OPTIONS'] = '--experimental-vm-modules --disable-warning=ExperimentalWarning';
const jest = (await import(join(ROOT, project, 'jest.config.js'))) as { default: JestConfig };
// The suites' global set-up, such as a mongod, serves the runs of all mutants.
await runHook(jest.default.globalSetup);
try {
  await new Stryker({
    mutate: [...targets.map((target) => (/\.ts(:|$)/.test(target) ? target : `${target}/**/*.ts`)), '!**/*.spec.ts'],
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner'],
    jest: {
      projectType: 'custom',
      configFile: `${project}/jest.config.js`,
      config: {
        globalSetup: null,
        globalTeardown: null,
        ...(values.tests !== undefined && { testMatch: [`<rootDir>/${values.tests}`] }),
        testEnvironment: '<rootDir>/../../tools/mutation/src/fail-fast.environment.ts',
      },
    },
    coverageAnalysis: 'perTest',
    // The mutated copy is a complete workspace, whose projects import from each other within the copy.
    tempDirName: `${CACHE}/copies`,
    symlinkNodeModules: false,
    buildCommand: 'node tools/mutation/src/link-workspaces.ts',
    concurrency: 1,
    reporters: ['clear-text'],
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false, skipFull: true },
    incremental: true,
    incrementalFile: `${CACHE}/${project.replace('/', '-')}.json`,
  }).runMutationTest();
} finally {
  await runHook(jest.default.globalTeardown);
}

async function runHook(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const { default: hook } = (await import(path)) as { default: () => Promise<void> };
  await hook();
}
