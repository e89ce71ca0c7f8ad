/** The parts of Kubernetes objects that are used here; `kubernetes-validate` has checked their types. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels };
}

export type Labels = Record<string, string>;

export interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface Workload extends Manifest {
  kind: 'Deployment' | 'StatefulSet';
  spec: {
    replicas?: number;
    selector: Selector;
    strategy?: { rollingUpdate?: { maxUnavailable?: number | string } };
    template: { metadata: { labels: Labels; annotations?: Labels }; spec: PodSpec };
  };
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown>;
  topologySpreadConstraints?: { labelSelector: Selector }[];
  hostAliases?: { ip: string; hostnames: string[] }[];
  containers: Container[];
  volumes?: {
    name: string;
    secret?: { secretName: string; optional?: boolean; items: { key: string; path: string }[] };
  }[];
}

export interface Container {
  name: string;
  image: string;
  env?: EnvironmentVariable[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  resources?: { requests?: Labels; limits?: Labels };
  securityContext?: Record<string, unknown>;
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

export interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: { configMapKeyRef?: { name: string; key: string; optional?: boolean } };
}

export interface Probe {
  httpGet?: { path: string; port: string | number };
  grpc?: { port: number };
}

export interface ConfigMap extends Manifest {
  data: Labels;
}

export interface Service extends Manifest {
  spec: { selector: Labels; clusterIP?: string; ports: { name: string; port: number; targetPort: string | number }[] };
}

export interface NetworkPolicy extends Manifest {
  spec: { podSelector: Selector; policyTypes: string[]; ingress?: PolicyRule[]; egress?: PolicyRule[] };
}

export interface PolicyRule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port: string | number; protocol?: string }[];
}

export interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface Autoscaler extends Manifest {
  spec: {
    scaleTargetRef: { name: string };
    minReplicas: number;
    maxReplicas: number;
    metrics: { pods?: { metric: { name: string; selector: Selector } } }[];
  };
}

interface IngressPath {
  path: string;
  backend: { service: { name: string; port: { name: string } } };
}

export interface Ingress extends Manifest {
  spec: {
    rules: { host: string; http: { paths: IngressPath[] } }[];
    tls: { hosts: string[] }[];
  };
}

export interface DisruptionBudget extends Manifest {
  spec: { maxUnavailable?: number; selector: Selector };
}

/** The type of each kind. */
interface Kinds {
  Deployment: Workload;
  StatefulSet: Workload;
  ConfigMap: ConfigMap;
  Service: Service;
  NetworkPolicy: NetworkPolicy;
  HorizontalPodAutoscaler: Autoscaler;
  Ingress: Ingress;
  PodDisruptionBudget: DisruptionBudget;
  ServiceAccount: Manifest & { automountServiceAccountToken?: boolean };
  Secret: Manifest & { data: Labels };
}

export function ofKind<K extends keyof Kinds>(manifests: Manifest[], kind: K): Kinds[K][] {
  return manifests.filter((manifest) => manifest.kind === kind) as Kinds[K][];
}

/** The `app.kubernetes.io/name` of an object. */
export function appOf({ metadata }: { metadata: { labels?: Labels } }): string {
  return metadata.labels?.['app.kubernetes.io/name'] ?? '';
}

export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`The operator ${operator} is not looked at here`);
      return values.includes(labels[key] ?? '');
    })
  );
}

/** The number of a port that is given by name or number. */
export function portNumber({ ports = [] }: Container, port: string | number): number | undefined {
  return typeof port === 'number' ? port : ports.find(({ name }) => name === port)?.containerPort;
}
