import { lines, type NewService, typeName } from './service.ts';

/** Texts of the workspace, by path. Throws if a requested one does not exist. */
export interface Texts {
  read(path: string): string;
  write(path: string, text: string): void;
}

/** Adds the service to every file that lists all services. */
export function addToPlaces(texts: Texts, service: NewService): void {
  const edit = (path: string, ...changes: ((text: string) => string)[]) => {
    const text = changes.reduce((before, change) => change(before), texts.read(path));
    texts.write(path, text);
  };
  const { name, purpose, grpc, mongodb, calls } = service;
  const type = typeName(name);

  edit(
    'libs/topology/src/services.ts',
    before(`  'gateway',\n] as const`, `  '${name}',\n`),
    before(`  /** The edge. */\n`, tableEntry(service)),
  );
  edit(
    'apps/standalone/src/parts.ts',
    before(`import type { EventLog }`, `import { create${type}, ${name}Config } from '@tollkeeper/${name}';\n`),
    before(`  gateway: part(`, `  ${name}: part(${name}Config, create${type}),\n`),
  );
  edit('apps/standalone/package.json', before(`    "@tollkeeper/net"`, `    "@tollkeeper/${name}": "*",\n`));
  edit('tools/fleet/package.json', before(`      "@tollkeeper/alerts"`, `      "@tollkeeper/${name}",\n`));

  edit(
    'docker-compose.yml',
    before(`      notifier: { condition: service_healthy }`, `      ${name}: { condition: service_healthy }\n`),
    before(`  mongodb:\n    image:`, composeService(service)),
  );
  texts.write(`k8s/base/${name}/kustomization.yaml`, kustomization(service));
  texts.write(`k8s/base/${name}/network-policy.yaml`, networkPolicy(service));
  for (const peer of calls) edit(`k8s/base/${peer}/network-policy.yaml`, letIn(name, peer));
  edit('k8s/base/kustomization.yaml', before(`  - notifier\n`, `  - ${name}\n`));
  for (const [overlay, tag] of Object.entries({ local: 'local', production: '0.1.0' })) {
    edit(
      `k8s/overlays/${overlay}/kustomization.yaml`,
      before(`  - { name: tollkeeper/notifier,`, `  - { name: tollkeeper/${name}, newTag: ${tag} }\n`),
    );
  }
  edit(
    'k8s/overlays/production/kustomization.yaml',
    before(`  - name: tollkeeper-notifier\n`, `  - name: tollkeeper-${name}\n    count: 2\n`),
  );

  edit('charts/tollkeeper/files/services.yaml', (text) => text + chartEntry(service));
  edit(
    'charts/tollkeeper/values.yaml',
    before(`  notifier:\n`, `  ${name}:\n    image: { repository: tollkeeper/${name}, tag: 0.1.0 }\n`),
  );

  edit(
    'monitoring/prometheus/alerts.yaml',
    before(
      `          or absent(tollkeeper_build_info{service="ingest"})`,
      `          or absent(tollkeeper_build_info{service="${name}"})\n`,
    ),
  );
  edit('monitoring/prometheus/alerts.test.yaml', (text) => text.replace(INGEST_SERIES, addSeries(name)));

  edit(
    'docs/architecture.md',
    before(
      `| [standalone](../apps/standalone)`,
      `| [${name}](../apps/${name}) | ${mongodb ? 'a database' : 'nothing'} | ${purpose}${grpc ? '; gRPC' : ''} |\n`,
    ),
    before(
      `    ingest & enforcer & dashboard & budgets == gateway.events`,
      calls.map((peer) => `    ${name} -. gRPC .-> ${peer}\n`).join(''),
    ),
  );
  edit(
    'docs/deployment.md',
    before('; do\n     version=', ` ${name}`),
    before('budgets, notifier, audit, console', `${name}, `),
  );
  texts.write(
    `.nx/version-plans/${name}-first-release.md`,
    `---\n'@tollkeeper/${name}': minor\n---\n\nFirst release: ${purpose.charAt(0).toLowerCase()}${purpose.slice(1)}.\n`,
  );
}

/** A change that inserts `added` before `mark`. Throws unless `mark` occurs exactly once. */
function before(mark: string, added: string): (text: string) => string {
  return (text) => {
    const parts = text.split(mark);
    if (parts.length !== 2)
      throw new Error(`${JSON.stringify(mark)} is there ${parts.length - 1} times in place of once`);
    return parts.join(added + mark);
  };
}

function tableEntry({ name, purpose, http, grpc, mongodb, calls }: NewService): string {
  const serves = [http && `'http'`, grpc && `'grpc'`].filter((each) => each !== false);
  const peers = calls.map((peer) => `'${peer}'`).join(', ');
  return lines(
    `  /** ${purpose}. */`,
    `  ${name}: {`,
    `    serves: [${serves.join(', ')}],`,
    `    open: [],`,
    `    calls: ${calls.length > 0 ? `{ grpc: [${peers}] }` : '{}'},`,
    `    reads: [],`,
    `    writes: [],`,
    `    mongodb: ${mongodb},`,
    `    secrets: ['CALLER_TOKEN_SECRET'],`,
    `    settings: [],`,
    `    internet: false,`,
    `    memoryMib: 384,`,
    `  },`,
    '',
  );
}

function composeService({ name, mongodb, calls }: NewService): string {
  return lines(
    `  ${name}:`,
    `    <<: *service`,
    `    image: tollkeeper/${name}:local`,
    `    build: { context: ., args: { APP: ${name} } }`,
    `    environment:`,
    `      <<: [*caller-token${mongodb ? ', *mongodb' : ''}]`,
    ...calls.map((peer) => `      ${peer.toUpperCase()}_GRPC: ${peer}:9090`),
    mongodb && `    depends_on:`,
    mongodb && `      <<: *needs-mongodb`,
    '',
    '',
  );
}

function kustomization({ name, http, grpc, mongodb, calls }: NewService): string {
  return lines(
    `apiVersion: kustomize.config.k8s.io/v1beta1`,
    `kind: Kustomization`,
    `nameSuffix: -${name}`,
    `labels:`,
    `  - pairs:`,
    `      app.kubernetes.io/name: ${name}`,
    `    includeSelectors: true`,
    `images:`,
    `  - name: tollkeeper`,
    `    newName: tollkeeper/${name}`,
    `resources:`,
    `  - ../shared/service`,
    `  - network-policy.yaml`,
    `components:`,
    http && `  - ../shared/http`,
    grpc && `  - ../shared/grpc`,
    mongodb && `  - ../shared/mongodb`,
    calls.length > 0 && `configMapGenerator:`,
    calls.length > 0 && `  - name: tollkeeper`,
    calls.length > 0 && `    behavior: merge`,
    calls.length > 0 && `    literals:`,
    ...calls.map((peer) => `      - ${peer.toUpperCase()}_GRPC=tollkeeper-grpc-${peer}:9090`),
    '',
  );
}

function networkPolicy({ name, calls }: NewService): string {
  return lines(
    `# The calls of ${name}: who may call it, and whom it calls.`,
    `apiVersion: networking.k8s.io/v1`,
    `kind: NetworkPolicy`,
    `metadata:`,
    `  name: tollkeeper-calls`,
    `  labels:`,
    `    app.kubernetes.io/part-of: tollkeeper`,
    `spec:`,
    `  podSelector:`,
    `    matchLabels:`,
    `      app.kubernetes.io/part-of: tollkeeper`,
    `  policyTypes: [Ingress, Egress]`,
    calls.length > 0 && `  egress:`,
    calls.length > 0 && `    - to:`,
    calls.length > 0 && `        - podSelector:`,
    calls.length > 0 && `            matchExpressions:`,
    calls.length > 0 &&
      `              - { key: app.kubernetes.io/name, operator: In, values: [${calls.toSorted().join(', ')}] }`,
    calls.length > 0 && `      ports:`,
    calls.length > 0 && `        - port: grpc`,
    '',
  );
}

function chartEntry({ name, http, grpc, mongodb, calls }: NewService): string {
  const serves = [http && 'http', grpc && 'grpc'].filter((each) => each !== false);
  return lines(
    `${name}:`,
    `  serves: [${serves.join(', ')}]`,
    calls.length > 0 && `  calls: { grpc: [${calls.join(', ')}] }`,
    mongodb && `  mongodb: true`,
    `  secrets: [CALLER_TOKEN_SECRET]`,
    '',
  );
}

/** The callers that a network policy allows on the gRPC port. */
const GRPC_CALLERS = /( {2}ingress:(?:(?!\n {2}\w)[\s\S])*?values: \[)([a-z, ]+)(\],?\s*\}\s+ports:\s+- port: grpc)/;

function letIn(name: string, peer: string): (text: string) => string {
  return (text) => {
    if (!GRPC_CALLERS.test(text)) {
      throw new Error(
        `${peer} lets nobody to a gRPC port yet: write its network policy first, or leave it out of --calls`,
      );
    }
    return text.replace(
      GRPC_CALLERS,
      (_all, start: string, callers: string, end: string) =>
        `${start}${[...callers.split(', '), name].sort().join(', ')}${end}`,
    );
  };
}

/** In the tests of the alert rules, each series of ingest represents a complete fleet. */
const INGEST_SERIES = /^ {6}- \{\s+series: 'tollkeeper_build_info\{service="ingest"[^}]*\}',\s+values: '\w+',\s+\}\n/gm;

function addSeries(name: string): (series: string) => string {
  return (series) => series + series.replaceAll('ingest', name);
}
