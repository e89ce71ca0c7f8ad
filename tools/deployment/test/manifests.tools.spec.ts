import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import { LOOKUP_INTERVAL_MS } from '@tollkeeper/grpc';
import { secretSettings, STOP_TIMEOUT_MS } from '@tollkeeper/runtime';
import { SERVICES, type ServiceName, TOPOLOGY } from '@tollkeeper/topology';
import { decodedSecrets, environmentOf, secretKeys } from '../src/environment.ts';
import { appOf, type Container, type Labels, type Manifest, ofKind, type Workload } from '../src/manifest.ts';
import { portNumber, selects } from '../src/manifest.ts';
import { tableOf } from '../src/page.ts';
import { OPTIONAL_SECRETS, renderOverlay, type Rendered, ROOT, SAMPLE_SECRETS } from '../src/render.ts';
import { isService, readSettings, SERVICE_CONFIGS, takes } from '../src/services.ts';
import { KUBERNETES_VERSIONS, validate } from '../src/validate.ts';

/** How long CoreDNS caches an answer, as set up by kubeadm and most distributions. */
const DNS_CACHED_MS = 30_000;
/** The services that process every event; identity needs only the few events of new agents. */
const COUNTING = SERVICES.filter(
  (service) => service !== 'identity' && TOPOLOGY[service].reads.includes(GATEWAY_EVENTS_TOPIC),
);
const COMPONENTS_BESIDE_PRODUCTION = ['ingress-otlp', 'mail', 'monitoring', 'opentelemetry'];
const PRODUCTION_SECRETS = {
  'tollkeeper-secrets': {
    ...SAMPLE_SECRETS,
    ...OPTIONAL_SECRETS,
    MONGODB_URI: 'mongodb+srv://tollkeeper:secret@mongodb.example.com/?replicaSet=rs0',
    KAFKA_SASL_USERNAME: 'tollkeeper',
    KAFKA_SASL_PASSWORD: 'k'.repeat(24),
  },
};

let local: Rendered;
let production: Rendered;
let complete: Rendered;

beforeAll(async () => {
  local = await renderOverlay('local');
  production = await renderOverlay('production');
  complete = await renderOverlay('production', COMPONENTS_BESIDE_PRODUCTION);
});

function overlays(): { name: string; manifests: Manifest[]; secrets: Record<string, Labels> }[] {
  return [
    { name: 'local', ...local, secrets: decodedSecrets(local.manifests) },
    { name: 'production', ...production, secrets: PRODUCTION_SECRETS },
    { name: 'production with every component', ...complete, secrets: PRODUCTION_SECRETS },
  ];
}

/** The deployment of each service of the table, and its only container. */
function deployments(manifests: Manifest[]): { service: ServiceName; deployment: Workload; container: Container }[] {
  return ofKind(manifests, 'Deployment').map((deployment) => {
    const [container, ...others] = deployment.spec.template.spec.containers;
    const service = appOf(deployment);
    if (container === undefined || others.length > 0) throw new Error(`${service} has not one container`);
    if (!isService(service)) throw new Error(`${service} is a Deployment, but not in the table of services`);
    return { service, deployment, container };
  });
}

/** The settings of a service as it would read them. */
function settings(service: ServiceName, deployment: Workload, manifests: Manifest[], secrets: Record<string, Labels>) {
  const environment = environmentOf(deployment.spec.template.spec, manifests, secrets);
  return { environment, config: readSettings(service, environment) };
}

describe('each overlay', () => {
  it('is what the Kubernetes API takes, and no field more', async () => {
    for (const version of KUBERNETES_VERSIONS) {
      expect(await validate(local.yaml, version)).toBe('');
      expect(await validate(production.yaml, version)).toBe('');
    }
  });

  it('would not pass with a field that the API does not know', async () => {
    const wrong = production.yaml.replace('readinessProbe:', 'readynessProbe:');
    expect(await validate(wrong, '1.34')).toContain('readynessProbe');
  });

  it('has every service, with its account, its disruption budget and its policies', () => {
    for (const { manifests } of overlays()) {
      expect(
        deployments(manifests)
          .map(({ service }) => service)
          .sort(),
      ).toEqual([...SERVICES].sort());
      for (const { deployment } of deployments(manifests)) {
        const { metadata, spec } = deployment.spec.template;
        const account = ofKind(manifests, 'ServiceAccount').find(
          ({ metadata: { name } }) => name === spec.serviceAccountName,
        );
        expect(account?.automountServiceAccountToken).toBe(false);
        const budgets = ofKind(manifests, 'PodDisruptionBudget').filter((budget) =>
          selects(budget.spec.selector, metadata.labels),
        );
        expect(budgets.map((budget) => budget.spec.maxUnavailable)).toEqual([1]);
      }
    }
  });

  it('sets what each service requires, to values that it takes, and nothing that it does not know', () => {
    for (const { name, manifests, secrets } of overlays()) {
      for (const { service, deployment } of deployments(manifests)) {
        const { environment } = settings(service, deployment, manifests, secrets);
        const unknown = Object.keys(environment).filter((variable) => !takes(service, variable));
        expect({ name, service, unknown }).toEqual({ name, service, unknown: [] });
      }
    }
  });

  it('takes only secrets that the documentation explains how to make', async () => {
    const documentation = await readFile(join(ROOT, 'docs/deployment.md'), 'utf8');
    for (const { name, manifests, secrets } of overlays()) {
      const keys = secretKeys(deployments(manifests).map(({ deployment }) => deployment.spec.template.spec));
      expect([name, keys]).toEqual([
        name,
        Object.keys(Object.assign({}, OPTIONAL_SECRETS, ...Object.values(secrets))).sort(),
      ]);
      for (const key of keys) expect(documentation).toContain(`\`${key}\``);
    }
  });

  it('gives each service the secrets that the table has for it and no others', () => {
    for (const { name, manifests } of overlays()) {
      for (const { service, deployment } of deployments(manifests)) {
        const given = secretKeys([deployment.spec.template.spec]).filter(
          (key) => key in { ...SAMPLE_SECRETS, ...OPTIONAL_SECRETS },
        );
        expect({ name, service, given }).toEqual({ name, service, given: TOPOLOGY[service].secrets.toSorted() });
      }
    }
  });

  it('gives each service the memory that the table has for it', () => {
    for (const { name, manifests } of overlays()) {
      for (const { service, container } of deployments(manifests)) {
        const memory = container.resources?.limits?.['memory'];
        expect({ name, service, memory }).toEqual({ name, service, memory: `${TOPOLOGY[service].memoryMib}Mi` });
      }
    }
  });

  it('gives every secret to the services as a file, and none in a variable', () => {
    for (const { yaml } of [local, production, complete]) expect(yaml).not.toMatch(/secretKeyRef|secretRef/);
    for (const { manifests } of overlays()) {
      const shared = ofKind(manifests, 'ConfigMap').flatMap(({ data }) => Object.keys(data));
      for (const { service, container } of deployments(manifests)) {
        const variables = [...shared, ...(container.env ?? []).map(({ name }) => name)];
        const secrets = secretSettings(SERVICE_CONFIGS[service]).filter((name) => variables.includes(name));
        expect([service, secrets]).toEqual([service, []]);
      }
    }
  });

  it('opens the ports that each service listens on, and probes those', () => {
    for (const { manifests, secrets } of overlays()) {
      for (const { service, deployment, container } of deployments(manifests)) {
        const { config } = settings(service, deployment, manifests, secrets);
        const listening = ['HTTP_PORT', 'GRPC_PORT', 'OTLP_PORT', 'OPS_PORT'].map((variable) => config[variable]);
        const open = container.ports?.map(({ containerPort }) => containerPort);
        expect(open?.sort()).toEqual(listening.filter((port) => port !== undefined).sort());

        const { startupProbe, readinessProbe, livenessProbe } = container;
        expect([startupProbe?.httpGet?.path, livenessProbe?.httpGet?.path]).toEqual(['/readyz', '/healthz']);
        for (const probe of [startupProbe, livenessProbe]) {
          expect(portNumber(container, probe?.httpGet?.port ?? 0)).toBe(config['OPS_PORT']);
        }
        const grpc = config['GRPC_PORT'];
        expect(readinessProbe?.grpc?.port).toBe(grpc);
        expect(readinessProbe?.httpGet?.path).toBe(grpc === undefined ? '/readyz' : undefined);
      }
    }
  });

  it('reaches every port of a service through one Service, which leads to that service alone', () => {
    for (const { manifests } of overlays()) {
      for (const { spec, metadata } of ofKind(manifests, 'Service')) {
        const pods = [...ofKind(manifests, 'Deployment'), ...ofKind(manifests, 'StatefulSet')].filter((workload) =>
          selects({ matchLabels: spec.selector }, workload.spec.template.metadata.labels),
        );
        expect(pods.map(appOf)).toEqual([appOf({ metadata })]);
        const [container] = pods[0]?.spec.template.spec.containers ?? [];
        for (const { port, targetPort } of spec.ports) {
          expect(container && portNumber(container, targetPort)).toBe(port);
          // gRPC clients balance over the addresses of all pods; a virtual address would hide them.
          if (targetPort === 'grpc') expect(spec.clusterIP).toBe('None');
        }
      }
    }
  });

  it('keeps a pod that ends until no client can hold its address alone, and gives it more time to end than that takes', () => {
    for (const { manifests, secrets } of overlays()) {
      for (const { service, deployment } of deployments(manifests)) {
        const { config } = settings(service, deployment, manifests, secrets);
        const drainMs = Number(config['DRAIN_DELAY_MS']) + STOP_TIMEOUT_MS;
        expect(config['DRAIN_DELAY_MS']).toBeGreaterThan(DNS_CACHED_MS + LOOKUP_INTERVAL_MS);
        expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drainMs / 1000);
      }
    }
  });

  it('rolls a service out without ever having fewer replicas than before', () => {
    for (const { manifests } of overlays()) {
      for (const { deployment } of deployments(manifests)) {
        expect(deployment.spec.strategy?.rollingUpdate?.maxUnavailable).toBe(0);
        for (const { labelSelector } of deployment.spec.template.spec.topologySpreadConstraints ?? []) {
          expect(labelSelector).toEqual(deployment.spec.selector);
        }
      }
    }
  });

  it('runs each service as no root, without capabilities, on a read-only file system, without a token of the API', () => {
    for (const { manifests } of overlays()) {
      for (const { deployment, container } of deployments(manifests)) {
        const pod = deployment.spec.template.spec;
        expect(pod.automountServiceAccountToken).toBe(false);
        expect(pod.securityContext?.['runAsUser']).toBeGreaterThanOrEqual(10_000);
        expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources).toMatchObject({
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
      }
    }
  });
});

describe('local', () => {
  it('runs MongoDB and Kafka as no root on a read-only file system, and restarts one that hangs', () => {
    for (const { spec } of ofKind(local.manifests, 'StatefulSet')) {
      const pod = spec.template.spec;
      const [container] = pod.containers;
      expect(pod.securityContext?.['runAsUser']).toBeGreaterThanOrEqual(10_000);
      expect(pod.securityContext?.['runAsNonRoot']).toBe(true);
      expect(container?.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container?.livenessProbe).toBeDefined();
    }
  });

  it('lets a MongoDB that was replaced find itself, whatever the DNS says', () => {
    const [mongodb] = ofKind(local.manifests, 'StatefulSet').filter((workload) => appOf(workload) === 'mongodb');
    expect(mongodb?.spec.template.spec.hostAliases).toEqual([{ ip: '127.0.0.1', hostnames: ['mongodb'] }]);
  });

  it('asks for so little of a processor that all services roll out at once on two cores', () => {
    const workloads = [...deployments(local.manifests).map(({ container }) => container)];
    const sets = ofKind(local.manifests, 'StatefulSet').flatMap(({ spec }) => spec.template.spec.containers);
    const cpu = (containers: Container[]) =>
      containers.reduce((sum, { resources }) => sum + parseInt(resources?.requests?.['cpu'] ?? '', 10), 0);
    expect(2 * cpu(workloads) + cpu(sets)).toBeLessThan(1000);
  });
});

describe('production', () => {
  it('has two replicas or more of every service', () => {
    const scaled = new Map(
      ofKind(production.manifests, 'HorizontalPodAutoscaler').map(({ spec }) => [
        spec.scaleTargetRef.name,
        spec.minReplicas,
      ]),
    );
    for (const { deployment } of deployments(production.manifests)) {
      const minimum = scaled.get(deployment.metadata.name) ?? deployment.spec.replicas;
      expect(minimum).toBeGreaterThan(1);
      // Otherwise each `kubectl apply` would undo the autoscaler's changes.
      if (scaled.has(deployment.metadata.name)) expect(deployment.spec.replicas).toBeUndefined();
    }
  });

  it('has as many replicas of each service as the documentation says', async () => {
    const sizing = tableOf(await readFile(join(ROOT, 'docs/deployment.md'), 'utf8'), '## Sizing');
    const said = sizing.flatMap(([services = '', replicas = '']) => {
      const [minimum, maximum = minimum] = replicas.split('–').map(Number);
      return services.split(', ').map((service) => [service, minimum, maximum]);
    });
    const autoscalers = ofKind(production.manifests, 'HorizontalPodAutoscaler');
    const made = deployments(production.manifests).map(({ service, deployment }) => {
      const scaled = autoscalers.find(({ spec }) => spec.scaleTargetRef.name === deployment.metadata.name)?.spec;
      const { replicas } = deployment.spec;
      return [service, scaled?.minReplicas ?? replicas, scaled?.maxReplicas ?? replicas];
    });
    expect(said.sort()).toEqual(made.sort());
  });

  it('scales what counts events by the events that wait, up to a replica for each partition', () => {
    for (const { spec, metadata } of ofKind(production.manifests, 'HorizontalPodAutoscaler')) {
      const metrics = spec.metrics.flatMap(({ pods }) => pods?.metric ?? []);
      if (!COUNTING.some((service) => service === appOf({ metadata }))) expect(metrics).toEqual([]);
      else {
        const selector = { matchLabels: { topic: GATEWAY_EVENTS_TOPIC } };
        expect(metrics).toEqual([{ name: 'event_log_lag_records', selector }]);
        expect(spec.maxReplicas).toBe(GATEWAY_EVENTS_TOPIC_OPTIONS.partitions);
      }
    }
  });

  it('is public at the host of PUBLIC_URL, with TLS, by way of the gateway', () => {
    const [environment] = ofKind(production.manifests, 'ConfigMap').filter(({ data }) => data['PUBLIC_URL']);
    const { protocol, host } = new URL(environment?.data['PUBLIC_URL'] ?? '');
    const [ingress, ...others] = ofKind(production.manifests, 'Ingress');
    expect([protocol, others]).toEqual(['https:', []]);
    expect(ingress?.spec.rules.map((rule) => rule.host)).toEqual([host]);
    expect(ingress?.spec.tls.map(({ hosts }) => hosts)).toEqual([[host]]);
    expect(ingress?.spec.rules[0]?.http.paths.map(({ backend }) => backend.service.name)).toEqual([
      'tollkeeper-gateway',
    ]);
  });

  it('takes OTLP over gRPC at the same host with a component, at the paths of its services alone', () => {
    const [gateway, otlp] = ['tollkeeper', 'tollkeeper-otlp'].map((name) =>
      ofKind(complete.manifests, 'Ingress').find(({ metadata }) => metadata.name === name),
    );
    expect(otlp?.spec.rules.map(({ host }) => host)).toEqual(gateway?.spec.rules.map(({ host }) => host));
    expect(otlp?.spec.tls).toEqual(gateway?.spec.tls);
    const paths = otlp?.spec.rules[0]?.http.paths ?? [];
    expect(paths.map(({ path }) => `${path}/Export`)).toEqual([
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
      '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
    ]);
    const named = ofKind(complete.manifests, 'Service').find(
      ({ metadata }) => metadata.name === 'tollkeeper-otlp-ingest',
    );
    for (const { backend } of paths) {
      expect(backend.service.name).toBe(named?.metadata.name);
      expect(named?.spec.ports.map(({ name }) => name)).toEqual([backend.service.port.name]);
    }
  });

  it('runs a release of each service that there is', async () => {
    for (const { service, container } of deployments(production.manifests)) {
      const { version } = JSON.parse(await readFile(join(ROOT, 'apps', service, 'package.json'), 'utf8')) as {
        version: string;
      };
      const [, image, tag] = /^tollkeeper\/([a-z]+):(\d+\.\d+\.\d+)$/.exec(container.image) ?? [];
      expect(image).toBe(service);
      expect(version.localeCompare(tag ?? '', 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
    }
  });

  it('sends traces where the policies let them pass', () => {
    for (const { service, deployment } of deployments(complete.manifests)) {
      const { environment } = settings(service, deployment, complete.manifests, PRODUCTION_SECRETS);
      const { port } = new URL(environment['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '');
      const policy = ofKind(complete.manifests, 'NetworkPolicy').find(
        ({ metadata }) => metadata.name === 'tollkeeper-opentelemetry',
      );
      expect(policy?.spec.egress?.[0]?.ports).toEqual([{ port: Number(port) }]);
    }
  });
});
