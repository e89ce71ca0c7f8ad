import { readdirSync } from 'node:fs';
import nx from '@nx/eslint-plugin';
import { defineConfig } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const APPS = readdirSync(new URL('apps', import.meta.url));

/** What each kind of project may import. A kind that is not listed may be imported by nothing here. */
const LAYERS = {
  kernel: [],
  contracts: ['kernel'],
  lib: ['kernel', 'contracts', 'lib'],
  // Embedded by gateways of others, without the rest.
  client: [],
  // Who runs or deploys the services knows them all. A service does not.
  topology: ['kernel', 'contracts'],
  embedded: ['kernel', 'contracts', 'lib', 'topology', 'embedded'],
  testing: ['kernel', 'contracts', 'lib', 'embedded', 'testing'],
  app: ['kernel', 'contracts', 'lib'],
  tool: ['kernel', 'contracts', 'lib', 'client', 'topology'],
  // In the language of the gateway that it is for; its suites run the product.
  integration: [],
  e2e: ['kernel', 'contracts', 'lib', 'client', 'topology', 'embedded', 'testing'],
  proto: [],
};

/**
 * Which folders of its service each folder of `apps/<service>/src` may import beside itself; one that is not listed
 * imports none. What a transport needs of a store or a client, the domain names as a port.
 */
const SERVICE_LAYERS = {
  store: ['domain'],
  clients: ['domain'],
  // All of one thing, from its routes to its store.
  channels: ['domain'],
  // A protocol of a gateway that others specify.
  adapters: ['domain', 'prices'],
  prices: ['domain'],
  repricing: ['domain'],
  reconciliation: ['domain'],
  scheduled: ['domain'],
  // From the bytes of a body to the calls that it reports.
  intake: [],
  http: ['domain', 'intake', 'openapi'],
  grpc: ['domain', 'channels', 'prices', 'intake'],
  consumers: ['domain', 'store', 'evaluation'],
  evaluation: ['domain', 'store'],
  delivery: ['domain', 'store', 'channels'],
  ledger: ['domain', 'store'],
};

/** These reach no database: the stores have the only queries, and consumers the transactions around them. */
const WITHOUT_DATABASE = ['http', 'grpc', 'clients', 'adapters'];

/** The import rules between the folders of a service, which `<service>.service.ts` puts together. */
const serviceLayers = ['*', ...Object.keys(SERVICE_LAYERS)].flatMap((folder) => {
  const allowed = (SERVICE_LAYERS[folder] ?? []).map((name) => `(?!${name}/)`).join('');
  const ofDatabase = { regex: '^(mongoose|mongodb|@tollkeeper/mongo)$', message: 'Queries belong into src/store.' };
  // A layer may have folders of its own, whose files reach the other layers one folder further up.
  return [
    { files: [`apps/*/src/${folder}/*.ts`], up: '\\.\\./' },
    { files: [`apps/*/src/${folder}/*/*.ts`], up: '\\.\\./\\.\\./' },
  ].map(({ files, up }) => {
    const others = { regex: `^${up}${allowed}`, message: 'SERVICE_LAYERS (eslint.config.js) says what it may import.' };
    const patterns = WITHOUT_DATABASE.includes(folder) ? [others, ofDatabase] : [others];
    return { files, ignores: ['**/*.spec.ts'], rules: { 'no-restricted-imports': ['error', { patterns }] } };
  });
});

const SPECS = ['**/*.spec.ts', '**/test/**/*.ts'];

/** A suite runs whole or it fails: nothing in it is left out. */
const SWITCHED_OFF = ['it', 'test', 'describe'].flatMap((object) =>
  ['skip', 'only', 'todo'].map((property) => ({ object, property, message: 'Every test runs.' })),
);

/** Of several parts these deny only that all are there: a test with them passes while one is. */
const DENIED_AS_A_WHOLE = {
  selector: [
    'MemberExpression[object.property.name="not"][property.name=/^(array|object)Containing$|^toMatchObject$/]',
    'CallExpression[callee.object.property.name="not"] > CallExpression[callee.property.name=/^(array|object)Containing$/]',
  ].join(),
  message:
    'It passes unless every part is there. List what is there and compare the list: expect(names.filter((name) => name in headers)).toEqual([]).',
};

/** Compared as an object without properties, it matches anything. */
const PATTERN_AS_OBJECT = {
  selector:
    'CallExpression[callee.property.name=/^(toMatchObject|objectContaining|arrayContaining)$/] :matches(Property, ArrayExpression) > Literal[regex]',
  message: 'It matches anything here. Use expect.stringMatching().',
};

/** Nx sees what a project imports by name, and runs the suites that a change reaches. It sees no path. */
const PROJECT_BY_PATH = '/^(\\.\\.\\x2F)+(apps|e2e|integrations|libs|proto|tools)\\x2F/';
const REACHED_BY_PATH = {
  selector: `Literal[value=${PROJECT_BY_PATH}], TemplateElement[value.raw=${PROJECT_BY_PATH}]`,
  message: 'Use the package by its name, so that Nx sees the dependency; import.meta.resolve gives a path.',
};

/** What there are several kinds of, and will be more: scopes, periods, rules, events, channels. */
const KIND = '/^#?(by|kind|of|period|scope|subject|type|(rule_?k|scope_?t|channel_?t|event_?t)(ind|ype))$/i';
const ONE_OF_THEM =
  '/^(tenant|workspace|agent|plan|model|day|hour|budget|guard|chat|webhook|event_count_gte|first_occurrence|spend_gte|[a-z]+\\.(blocked|settled|threshold_reached))$/';
const DIVIDED_BY_HAND = {
  selector: [
    'IfStatement > BinaryExpression.test',
    'ConditionalExpression > BinaryExpression.test',
    ':matches(JSXExpressionContainer, SpreadElement) > LogicalExpression > BinaryExpression',
  ]
    .flatMap((place) =>
      ['name', 'property.name', 'expression.property.name'].map((of) => `${place}[left.${of}=${KIND}]`),
    )
    .map((compared) => `${compared}[right.value=${ONE_OF_THEM}]`)
    .join(),
  message: 'A new kind would take the way of the others here. Use a Record by kind, or a switch without a default.',
};

/** Texts of the pages stand in one place, so that they can be translated: what reads like one elsewhere is refused. */
const WORD = '/\\p{L}{2}/u';
const PHRASE = '/^\\p{Lu}\\p{Ll}+(?![\\p{L}\\p{N}])|\\p{L}{2} \\p{L}{2}/u';
const READ_TO_PEOPLE =
  'JSXAttribute[name.name=/^(aria-(label|roledescription|description|valuetext)|title|placeholder|alt)$/]';
const UNTRANSLATED = {
  selector: [
    `JSXText[value=${WORD}]`,
    `${READ_TO_PEOPLE} > Literal[value=${WORD}]`,
    `${READ_TO_PEOPLE} > JSXExpressionContainer > Literal[value=${WORD}]`,
    `${READ_TO_PEOPLE} > JSXExpressionContainer > TemplateLiteral > TemplateElement[value.raw=${WORD}]`,
    // Anywhere, such as in a toast; but not the name of a key, nor an error of whoever wrote the page.
    `:matches(Literal[value=${PHRASE}], TemplateElement[value.raw=${PHRASE}]):not(BinaryExpression > *, NewExpression *)`,
  ].join(),
  message: 'Texts of the pages belong into web/src/text.',
};

/**
 * The import rules between projects. `extra` kinds are open to every project on top of its layer;
 * `allow` names packages that are open whatever their kind.
 */
function moduleBoundaries({ extra = [], allow = [] } = {}) {
  const types = Object.entries(LAYERS).map(([type, allowed]) => ({
    sourceTag: `type:${type}`,
    onlyDependOnLibsWithTags: [...allowed, ...extra].map((name) => `type:${name}`),
  }));
  const scopes = [
    ...APPS,
    'backup',
    'ci',
    'cli',
    'bench',
    'cluster',
    'deployment',
    'generators',
    'litellm',
    'monitoring',
    'receiver',
    'release',
    'replay',
    'e2e',
  ].map((scope) => ({
    sourceTag: `scope:${scope}`,
    onlyDependOnLibsWithTags: [`scope:${scope}`, 'scope:shared'],
  }));
  const shared = { sourceTag: 'scope:shared', onlyDependOnLibsWithTags: ['scope:shared'] };
  return {
    '@nx/enforce-module-boundaries': [
      'error',
      {
        allow,
        banTransitiveDependencies: true,
        depConstraints: [...types, ...scopes, shared],
        // The specs of the libs that the test kit stands on use the test kit: a cycle of specs, not of products.
        ignoredCircularDependencies: [['@tollkeeper/testing', '*']],
      },
    ],
  };
}

const appPackages = APPS.map((app) => `@tollkeeper/${app}`);

export default defineConfig(
  {
    ignores: ['**/dist/', '**/node_modules/', '.cache/', '.nx/', '.tollkeeper/', 'libs/*/src/gen/', '**/fixtures/'],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    // A function has one job. One that needs more lines has parts with names of their own.
    files: ['**/*.{ts,tsx,js}'],
    ignores: [...SPECS, 'e2e/**'],
    rules: { 'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommended],
    plugins: { '@nx': nx },
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['apps/console/vite.config.ts'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      eqeqeq: ['error', 'always'],
      'no-console': 'error',
      'no-param-reassign': 'error',
      'no-template-curly-in-string': 'error',
      'no-unreachable-loop': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Ids and secrets come from node:crypto or the kernel.' },
      ],
      'no-restricted-syntax': ['error', DIVIDED_BY_HAND, REACHED_BY_PATH],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      // Express tells an error handler by its four parameters, used or not.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      ...moduleBoundaries(),
    },
  },
  {
    // Pages in the browser: they call the public API alone, with its client.
    files: ['apps/console/web/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    rules: moduleBoundaries({ extra: ['client'] }),
  },
  {
    files: ['apps/console/web/src/**/*.{ts,tsx}'],
    ignores: ['apps/console/web/src/text/**'],
    rules: { 'no-restricted-syntax': ['error', UNTRANSLATED, DIVIDED_BY_HAND, REACHED_BY_PATH] },
  },
  {
    files: SPECS,
    rules: {
      ...moduleBoundaries({ extra: ['testing', 'embedded'] }),
      'no-restricted-properties': ['error', ...SWITCHED_OFF],
      'no-restricted-syntax': ['error', DENIED_AS_A_WHOLE, PATTERN_AS_OBJECT, REACHED_BY_PATH],
    },
  },
  {
    // What the pages get from the public API has the types of its client. Gateways that use it are killed.
    files: ['apps/{console,enforcer}/test/**/*.ts'],
    rules: moduleBoundaries({ extra: ['client', 'testing', 'embedded'] }),
  },
  {
    // Its parts for tests start a real LiteLLM.
    files: ['tools/bench/**/*.ts'],
    rules: moduleBoundaries({
      extra: ['testing', 'embedded', 'topology'],
      allow: [...appPackages, '@tollkeeper/litellm/*'],
    }),
  },
  {
    files: ['apps/standalone/**/*.ts', 'tools/deployment/**/*.ts', 'e2e/**/*.ts'],
    rules: moduleBoundaries({ extra: ['testing', 'embedded', 'topology'], allow: appPackages }),
  },
  {
    files: ['tools/cluster/**/*.ts'],
    rules: moduleBoundaries({ extra: ['testing', 'embedded'], allow: ['@tollkeeper/deployment'] }),
  },
  { files: ['tools/monitoring/**/*.ts'], rules: moduleBoundaries({ extra: ['embedded'] }) },
  { files: ['**/*.js'], rules: { 'no-restricted-syntax': ['error', REACHED_BY_PATH] } },
  { files: ['tools/**/*.ts', '**/scripts/**/*.ts'], rules: { 'no-console': 'off' } },
  // As its reader would write it, with the package by its name.
  { files: ['libs/*/examples/**/*.ts'], rules: { 'no-console': 'off', '@nx/enforce-module-boundaries': 'off' } },
  ...serviceLayers,
  {
    // What is particular to a type of channels.
    files: ['apps/*/src/channels/*/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^\\.\\./(?!\\.\\./domain/|[^./][^/]*$)',
              message: 'A type of channels imports what all of them share, and src/domain.',
            },
          ],
        },
      ],
    },
  },
  // The rules of a service know no transport, no store and no process: what they need comes in through ports.
  ...[
    { files: ['apps/*/src/domain/*.ts'], own: '\\./' },
    // What belongs together may have a folder of its own there.
    { files: ['apps/*/src/domain/*/*.ts'], own: '\\./|\\.\\./[^./][^/]*$' },
  ].map(({ files, own }) => ({
    files,
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(?!${own}|@tollkeeper/(kernel|contracts)$|node:(crypto|util)$|zod$)`,
              message: 'src/domain imports only itself, kernel and contracts. Take what it needs as a port.',
            },
          ],
        },
      ],
    },
  })),
);
