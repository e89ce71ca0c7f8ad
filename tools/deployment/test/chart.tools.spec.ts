import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVICES } from '@tollkeeper/topology';
import { parse } from 'yaml';
import { CHART, lintChart, PRODUCTION_VALUES, renderChart, templateChart } from '../src/chart.ts';
import { objectsOfChart, objectsOfOverlay } from '../src/chart.comparison.ts';
import { decodedSecrets, secretKeys } from '../src/environment.ts';
import { appOf, type Manifest, ofKind } from '../src/manifest.ts';
import { OPTIONAL_SECRETS, renderOverlay, type Rendered, ROOT, SAMPLE_SECRETS } from '../src/render.ts';
import { KUBERNETES_VERSIONS, validate } from '../src/validate.ts';

const TRIAL = { trial: { enabled: true } };
const PRODUCTION = { files: [PRODUCTION_VALUES] };
/** The optional parts that components of k8s/ have too, and those that only the chart has. */
const COMPONENTS = {
  ingress: { otlp: { enabled: true } },
  networkPolicy: { mail: true },
  monitoring: { podMonitor: { enabled: true } },
  tracing: { enabled: true },
};
const ONLY_IN_THE_CHART = {
  httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
  monitoring: { rules: { enabled: true, labels: { release: 'prometheus' } }, dashboard: { enabled: true } },
};
/** A row of a service that sets everything. */
const FULL_ROW = {
  image: { repository: 'own/alerts', digest: `sha256:${'0'.repeat(64)}` },
  replicas: 4,
  autoscaling: null,
  env: { LOG_LEVEL: 'debug', DRAIN_DELAY_MS: '60000' },
  extraEnv: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
  extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }],
  resources: { requests: { cpu: 2 }, limits: { memory: '1Gi' } },
  podLabels: { team: 'growth' },
  podAnnotations: { 'sidecar.example.com/inject': 'true' },
  nodeSelector: { pool: 'tollkeeper' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
  topologySpreadConstraints: [{ topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
};

function alertsOf(manifests: Manifest[]) {
  const alerts = ofKind(manifests, 'Deployment').find((deployment) => appOf(deployment) === 'alerts');
  const [container] = alerts?.spec.template.spec.containers ?? [];
  if (alerts === undefined || container === undefined) throw new Error('The chart has no Deployment for alerts');
  return { spec: alerts.spec, pod: alerts.spec.template.spec, container };
}

let trial: Rendered;
let production: Rendered;

beforeAll(async () => {
  trial = await renderChart(TRIAL);
  production = await renderChart({}, PRODUCTION);
});

describe('the chart makes the objects that kustomize makes', () => {
  it.each([
    ['local', [], { ...TRIAL, image: { tag: 'local' }, secret: { values: SAMPLE_SECRETS } }, {}],
    ['production', [], {}, PRODUCTION],
    ['production', ['ingress-otlp', 'mail', 'monitoring', 'opentelemetry'], COMPONENTS, PRODUCTION],
  ] as const)('of k8s/overlays/%s with the components %j', async (name, components, values, options) => {
    const overlay = objectsOfOverlay((await renderOverlay(name, [...components])).manifests);
    const chart = objectsOfChart((await renderChart(values, options)).manifests, overlay);
    expect([...chart.keys()].sort()).toEqual([...overlay.keys()].sort());
    for (const [object, manifest] of overlay) expect([object, chart.get(object)]).toEqual([object, manifest]);
  });

  it('with a row in the table of values for every service, and no other', async () => {
    const { services } = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as { services: object };
    expect(Object.keys(services).sort()).toEqual(SERVICES.toSorted());
  });
});

describe('the chart', () => {
  it('has nothing that helm lint warns of', async () => {
    for (const values of [TRIAL, { ...TRIAL, ...ONLY_IN_THE_CHART }]) {
      expect(await lintChart(values)).toMatchObject({ exitCode: 0, stdout: '' });
    }
  });

  it('is what the Kubernetes API takes, and no field more, with each kind of values', async () => {
    const matrix = [
      [TRIAL, {}],
      [{}, PRODUCTION],
      [COMPONENTS, PRODUCTION],
      [ONLY_IN_THE_CHART, PRODUCTION],
      [{ services: { alerts: FULL_ROW } }, PRODUCTION],
      [{ defaults: { ...FULL_ROW, image: {} } }, { release: 'other', ...PRODUCTION }],
    ] as const;
    const rendered = await Promise.all(matrix.map(([values, options]) => templateChart(values, options, [])));
    expect(rendered.map(({ stderr, exitCode }) => exitCode === 0 || stderr)).toEqual(matrix.map(() => true));
    const yaml = rendered.map(({ stdout }) => stdout).join('\n');
    for (const version of KUBERNETES_VERSIONS) expect(await validate(yaml, version)).toBe('');
  });

  it('names everything after the release, so that two of them fit into a namespace', async () => {
    const names = ({ manifests }: Rendered) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const other = names(await renderChart(TRIAL, { release: 'other' }));
    expect(other.filter((name) => !/ other-tollkeeper(-|$)/.test(name))).toEqual([]);
  });

  it('sets for a service what its row says, over what all have', async () => {
    const values = { image: { registry: 'registry.example.com/' }, services: { alerts: FULL_ROW } };
    const { manifests } = await renderChart(values, PRODUCTION);
    const { spec, pod, container } = alertsOf(manifests);
    expect(spec.replicas).toBe(4);
    expect(spec.template.metadata.labels).toMatchObject(FULL_ROW.podLabels);
    expect(spec.template.metadata.annotations).toMatchObject(FULL_ROW.podAnnotations);
    expect(pod).toMatchObject({
      nodeSelector: FULL_ROW.nodeSelector,
      tolerations: FULL_ROW.tolerations,
      affinity: FULL_ROW.affinity,
      priorityClassName: FULL_ROW.priorityClassName,
      topologySpreadConstraints: FULL_ROW.topologySpreadConstraints,
      terminationGracePeriodSeconds: 100,
      volumes: expect.arrayContaining(FULL_ROW.extraVolumes),
    });
    expect(container).toMatchObject({
      image: `registry.example.com/own/alerts@${FULL_ROW.image.digest}`,
      env: expect.arrayContaining(FULL_ROW.extraEnv),
      volumeMounts: expect.arrayContaining(FULL_ROW.extraVolumeMounts),
      resources: { requests: { cpu: 2, memory: '256Mi' }, limits: { memory: '1Gi' } },
    });
    const configMap = ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name === 'tollkeeper-alerts');
    expect(configMap?.data).toMatchObject(FULL_ROW.env);
    const scaled = ofKind(manifests, 'HorizontalPodAutoscaler').filter((autoscaler) => appOf(autoscaler) === 'alerts');
    expect(scaled).toEqual([]);
  });

  it('replaces the pods of a service when its settings change, and no others', async () => {
    const changed = await renderChart({ services: { alerts: { env: { LOG_LEVEL: 'debug' } } } }, PRODUCTION);
    const pods = ({ manifests }: Rendered) =>
      ofKind(manifests, 'Deployment').map(({ metadata, spec }) => [metadata.name, spec.template]);
    const before = pods(production);
    const replaced = pods(changed).filter((pod, index) => JSON.stringify(pod) !== JSON.stringify(before[index]));
    expect(replaced.map(([name]) => name)).toEqual(['tollkeeper-alerts']);
  });

  it('takes the alert rules and the dashboard of monitoring/', async () => {
    const { manifests } = await renderChart(ONLY_IN_THE_CHART, PRODUCTION);
    const rules = manifests.find(({ kind }) => kind === 'PrometheusRule');
    const read = (path: string) => readFile(join(ROOT, 'monitoring', path), 'utf8');
    expect(rules).toMatchObject({ spec: parse(await read('prometheus/alerts.yaml')) as object });
    expect(rules?.metadata.labels).toMatchObject({ release: 'prometheus' });
    const dashboard = ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.labels?.['grafana_dashboard']);
    expect(dashboard?.data).toEqual({ 'tollkeeper.json': await read('grafana/tollkeeper.json') });
  });
});

describe('the Secret', () => {
  it('of a trial has what the services require, generated where no value is given', () => {
    const { 'tollkeeper-secrets': data = {} } = decodedSecrets(trial.manifests);
    expect(Object.keys(data).sort()).toEqual([...Object.keys(SAMPLE_SECRETS), 'MONGODB_URI'].sort());
    expect(data['CALLER_TOKEN_SECRET']).toMatch(/^\w{44}$/);
    const [, key = ''] = /^k1:(.+)$/.exec(data['CHANNEL_ENCRYPTION_KEYS'] ?? '') ?? [];
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
  });

  it('outlives the release, because the channels cannot be read without its keys', () => {
    const [secret] = ofKind(trial.manifests, 'Secret');
    expect(secret?.metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } });
  });

  it('may exist already, with keys of other names', async () => {
    const keys = { CALLER_TOKEN_SECRET: 'caller', MONGODB_URI: 'uri', FIRST_OWNER_EMAIL: 'owner' };
    const { manifests } = await renderChart({ secret: { existing: 'own', keys } }, PRODUCTION);
    expect(ofKind(manifests, 'Secret')).toEqual([]);
    const pods = ofKind(manifests, 'Deployment').map(({ spec }) => spec.template.spec);
    const volumes = pods.flatMap(({ volumes: all = [] }) => all.flatMap(({ secret }) => secret ?? []));
    expect([...new Set(volumes.map(({ secretName }) => secretName))]).toEqual(['own']);
    const others = Object.keys({ ...SAMPLE_SECRETS, ...OPTIONAL_SECRETS }).filter((key) => !(key in keys));
    const login = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'];
    expect(secretKeys(pods)).toEqual([...others, ...Object.values(keys), ...login].sort());
  });
});

describe('Helm refuses', () => {
  it.each([
    ['a name that is no value', { kafka: { broker: [] } }, "at '/kafka': additional properties 'broker'"],
    ['a value of the wrong type', { services: { alerts: { replicas: 'two' } } }, "at '/services/alerts/replicas'"],
    ['a setting that is no text', { defaults: { env: { DRAIN_DELAY_MS: 1 } } }, "at '/defaults/env/DRAIN_DELAY_MS'"],
    ['a setting that no service has', { settings: { MAIL: 'x' } }, "at '/settings': additional properties 'MAIL'"],
    ['a secret that no service reads', { secret: { values: { TOKEN: 'x' } } }, "at '/secret/values'"],
    ['a mechanism that Kafka has not', { kafka: { saslMechanism: 'gssapi' } }, "at '/kafka/saslMechanism'"],
    ['an address that is no URL', { publicUrl: 'tollkeeper.example.com' }, "at '/publicUrl'"],
    ['a service that there is not', { services: { alert: {} } }, 'services.alert: there is no such service'],
    ['a service that was removed', { services: { alerts: null } }, 'services.alerts: is missing'],
    ['production without an address', { publicUrl: '' }, 'publicUrl: is required'],
    ['production without brokers', { kafka: { brokers: [] } }, 'kafka.brokers: is required'],
    ['production without secrets', { secret: { existing: '' } }, 'secret.values.MONGODB_URI: is required'],
    ['policies without networks', { networkPolicy: { kafka: { cidrs: [] } } }, 'networkPolicy.kafka.cidrs: is'],
    ['a route without a Gateway', { httpRoute: { enabled: true } }, 'httpRoute.parentRefs: is required'],
    ['a trial with a Kafka of yours', { ...TRIAL, secret: { existing: '' } }, 'kafka.brokers: a trial has its own'],
    ['a trial with a Secret of yours', { ...TRIAL, kafka: { brokers: [] } }, 'secret.existing: a trial has its own'],
  ])('%s, by its name', async (_what, values, problem) => {
    const { exitCode, stderr } = await templateChart(values, PRODUCTION);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)]);
  });
});
