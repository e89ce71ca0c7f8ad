import { lines, type NewService, typeName } from './service.ts';

/** The files of `apps/<name>`, by relative path. */
export function appFiles(service: NewService): Record<string, string> {
  const { name } = service;
  return {
    'package.json': packageJson(service),
    'README.md': readme(service),
    'jest.config.js': jestConfig(service),
    'src/main.ts': main(service),
    'src/index.ts': index(service),
    'src/config.ts': config(service),
    [`src/${name}.service.ts`]: serviceFile(service),
    [`test/${name}.stack.ts`]: stack(service),
    [`test/${name}.${service.mongodb ? 'int.spec' : 'spec'}.ts`]: suite(service),
  };
}

function packageJson({ name, http, grpc, mongodb, calls }: NewService): string {
  const used = {
    contracts: calls.length > 0,
    runtime: true,
    http,
    grpc: grpc || calls.length > 0,
    mongo: mongodb,
  };
  const libs = Object.entries(used).flatMap(([lib, isUsed]) => (isUsed ? [[`@tollkeeper/${lib}`, '*']] : []));
  return JSON.stringify({
    name: `@tollkeeper/${name}`,
    version: '0.1.0',
    private: true,
    type: 'module',
    exports: { '.': './src/index.ts' },
    scripts: { build: 'node ../../tools/ci/src/build.ts' },
    nx: { projectType: 'application', tags: ['type:app', `scope:${name}`] },
    dependencies: { ...Object.fromEntries(libs), zod: '^4.6.7' },
  });
}

function jestConfig({ mongodb }: NewService): string {
  const preset = mongodb ? '@tollkeeper/testing/jest-mongo.preset.js' : '../../jest.preset.js';
  return `import preset from '${preset}';\n\nexport default { ...preset };\n`;
}

function main({ name }: NewService): string {
  return lines(
    `import { runService } from '@tollkeeper/runtime';`,
    `import manifest from '../package.json' with { type: 'json' };`,
    `import { ${name}Config } from './config.ts';`,
    `import { create${typeName(name)} } from './${name}.service.ts';`,
    '',
    `await runService({ name: '${name}', version: manifest.version, config: ${name}Config, create: create${typeName(name)} });`,
  );
}

function index({ name }: NewService): string {
  const type = typeName(name);
  return lines(
    `export { type ${type}Config, ${name}Config } from './config.ts';`,
    `export { create${type}, type ${type}Deps, type ${type}Service } from './${name}.service.ts';`,
  );
}

function config({ name, http, grpc, mongodb, calls }: NewService): string {
  const fields = [
    http && 'httpServiceFields',
    grpc && 'grpcServiceFields',
    mongodb && 'mongodbFields',
    calls.length > 0 && 'hostPortField',
    !http && !grpc && 'callerTokenFields',
    'serviceConfig',
  ].filter((field) => field !== false);
  return lines(
    `import { ${fields.sort().join(', ')} } from '@tollkeeper/runtime';`,
    `import type { z } from 'zod';`,
    '',
    `/** Environment of ${name}. */`,
    `export const ${name}Config = serviceConfig.extend({`,
    http && `  ...httpServiceFields,`,
    grpc && `  ...grpcServiceFields,`,
    !http && !grpc && `  ...callerTokenFields,`,
    mongodb && `  ...mongodbFields('tollkeeper_${name}'),`,
    ...calls.map((peer) => `  ${peer.toUpperCase()}_GRPC: hostPortField().describe('host:port of ${peer}'),`),
    `});`,
    `export type ${typeName(name)}Config = z.infer<typeof ${name}Config>;`,
  );
}

function serviceFile(service: NewService): string {
  const { name, purpose, http, grpc, mongodb, calls } = service;
  const type = typeName(name);
  const grpcNames = [calls.length > 0 && 'createGrpcClient', grpc && 'createGrpcServer'].filter(
    (each) => each !== false,
  );
  const serves = [http && 'ServesHttp', grpc && 'ServesGrpc'].filter((each) => each !== false);
  const runtime = ['assembleService', 'type Component', ...serves.map((each) => `type ${each}`), 'type ServiceDeps'];
  const parts = [...(mongodb ? ['mongo'] : []), ...calls];
  return lines(
    calls.length > 0 && `import { ${calls.map((peer) => `${peer}Service`).join(', ')} } from '@tollkeeper/contracts';`,
    grpcNames.length > 0 && `import { ${grpcNames.join(', ')} } from '@tollkeeper/grpc';`,
    http && `import { createHttpServer } from '@tollkeeper/http';`,
    mongodb && `import { connectMongo, explainOutage } from '@tollkeeper/mongo';`,
    `import { ${runtime.join(', ')} } from '@tollkeeper/runtime';`,
    `import type { ${type}Config } from './config.ts';`,
    '',
    `export type ${type}Deps = ServiceDeps<${type}Config>;`,
    '',
    `/** ${purpose}. Addresses are valid once started. */`,
    `export type ${type}Service = Component & ${serves.join(' & ')};`,
    '',
    `export function create${type}(deps: ${type}Deps): ${type}Service {`,
    parts.length > 0 ? `  const { config, logger } = deps;` : `  const { logger } = deps;`,
    mongodb && `  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });`,
    ...calls.map(
      (peer) => `  const ${peer} = createGrpcClient(${peer}Service, config.${peer.toUpperCase()}_GRPC, deps);`,
    ),
    http && httpServer(service),
    grpc && grpcServer(service),
    `  return assembleService({ name: '${name}', logger, parts: [${parts.join(', ')}]${grpc ? ', grpc' : ''}${http ? ', http' : ''} });`,
    `}`,
  );
}

function httpServer({ name, mongodb }: NewService): string {
  const explain = mongodb ? ', explain: explainOutage' : '';
  return `  const http = createHttpServer({ ...deps, routes: [], name: '${name}'${explain} });`;
}

function grpcServer({ mongodb }: NewService): string {
  const readiness = mongodb ? ', explain: explainOutage, ready: () => mongo.ping()' : '';
  return `  const grpc = createGrpcServer({ ...deps, services: []${readiness} });`;
}

function stack({ name, mongodb, calls }: NewService): string {
  const type = typeName(name);
  const testing = ['CALLER_TOKEN_SECRET', ...(calls.length > 0 ? ['createPeers'] : []), 'testLogger'];
  return lines(
    `import { afterAll, beforeAll } from '@jest/globals';`,
    `import { createMetrics, loadConfig } from '@tollkeeper/runtime';`,
    `import { ${[...testing, ...(mongodb ? ['type TestMongo'] : [])].join(', ')} } from '@tollkeeper/testing';`,
    `import { create${type}, ${name}Config, type ${type}Service } from '../src/index.ts';`,
    '',
    calls.length > 0
      ? `/** The service${mongodb ? ' on a real mongod' : ''}, before peers that answer no call yet. */`
      : `/** The service${mongodb ? ' on a real mongod' : ''}. */`,
    `export function use${type}(${mongodb ? 'mongo: TestMongo' : ''}) {`,
    `  const { logger } = testLogger();`,
    mongodb && `  const database = mongo.newDatabase();`,
    calls.length > 0 && `  const peers = createPeers(logger, []);`,
    `  let service: ${type}Service;`,
    '',
    `  beforeAll(async () => {`,
    calls.length > 0 && `    await peers.start();`,
    `    const config = loadConfig(${name}Config, {`,
    `      HOST: '127.0.0.1',`,
    `      HTTP_PORT: '0',`,
    `      GRPC_PORT: '0',`,
    mongodb && `      MONGODB_URI: mongo.uri,`,
    mongodb && `      MONGODB_DATABASE: database,`,
    `      CALLER_TOKEN_SECRET,`,
    ...calls.map((peer) => `      ${peer.toUpperCase()}_GRPC: peers.address,`),
    `    });`,
    `    service = create${type}({ config, logger, metrics: createMetrics('${name}') });`,
    `    await service.start();`,
    `  });`,
    `  afterAll(async () => {`,
    `    await service.stop();`,
    calls.length > 0 && `    await peers.stop();`,
    `  });`,
    `  return { service: () => service };`,
    `}`,
  );
}

function suite({ name, http, grpc, mongodb }: NewService): string {
  const use = `use${typeName(name)}`;
  return lines(
    `import { expect, it } from '@jest/globals';`,
    grpc && `import { connect } from 'node:net';`,
    grpc && `import { once } from 'node:events';`,
    mongodb && `import { useMongo } from '@tollkeeper/testing';`,
    http && `import supertest from 'supertest';`,
    `import { ${use} } from './${name}.stack.ts';`,
    '',
    `const ${name} = ${use}(${mongodb ? 'useMongo()' : ''});`,
    '',
    `it('is ready once it has started', async () => {`,
    `  await expect(Promise.resolve(${name}.service().ready?.())).resolves.toBeUndefined();`,
    `});`,
    http && '',
    http && `it('describes its API, and answers 404 to what is none of it', async () => {`,
    http && `  const server = supertest(${name}.service().httpUrl);`,
    http &&
      `  expect((await server.get('/openapi.json')).body).toMatchObject({ info: { title: 'Tollkeeper ${name}' } });`,
    http && `  expect((await server.get('/api/v1/nothing')).status).toBe(404);`,
    http && `});`,
    grpc && '',
    grpc && `it('listens for gRPC where it says', async () => {`,
    grpc && `  const [host, port] = ${name}.service().grpcAddress.split(':');`,
    grpc && `  const socket = connect({ host, port: Number(port) });`,
    grpc && `  await once(socket, 'connect');`,
    grpc && `  socket.destroy();`,
    grpc && `});`,
  );
}

function readme({ name, purpose, http, grpc, mongodb, calls }: NewService): string {
  const required = [
    ...(mongodb ? ['MONGODB_URI'] : []),
    'CALLER_TOKEN_SECRET',
    ...calls.map((peer) => `${peer.toUpperCase()}_GRPC`),
  ];
  const given = required.map((setting) => `\`${setting}\``).join(', ');
  return lines(
    `# ${name}`,
    '',
    `${purpose}.`,
    '',
    '## What it owns',
    '',
    mongodb ? `Database \`tollkeeper_${name}\`, without collections so far.` : 'Nothing.',
    http && '\n## HTTP\n\n`GET /openapi.json` is the description of its API, which has no calls so far.',
    (grpc || calls.length > 0) && '\n## gRPC\n',
    grpc && 'Serves health alone so far.',
    calls.length > 0 && `Connects to ${calls.join(' and ')}.`,
    '',
    '## Events',
    '',
    'None in, none out.',
    '',
    '## Settings',
    '',
    `\`src/config.ts\` describes each one. ${given} must be given.`,
    '',
  );
}
