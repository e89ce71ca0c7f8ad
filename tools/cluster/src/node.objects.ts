import type { KubernetesObject } from './kubernetes.api.ts';

export const NAME_SERVER = '10.96.0.10';
const NAMESPACE = 'kube-system';

/** Answers are cached for 30 s, even outdated ones: the default of many clusters, and the worst case for a roll-out. */
const COREFILE = `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        ttl 30
    }
    cache 30
}
`;

/** The initial objects of a cluster: a name server, and a volume for each of these folders. */
export function clusterObjects(volumes: string[]): KubernetesObject[] {
  return [...nameServer(), ...volumes.map(volume)];
}

function volume(path: string, index: number): KubernetesObject & { spec: object } {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `volume-${index}` },
    spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path } },
  };
}

function nameServer(): KubernetesObject[] {
  const metadata = { name: 'coredns', namespace: NAMESPACE };
  const labels = { 'k8s-app': 'kube-dns' };
  const rbac = 'rbac.authorization.k8s.io';
  const rules = [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ];
  const container = {
    name: 'coredns',
    image: 'tollkeeper-cluster/coredns:local',
    args: ['-conf', '/etc/coredns/Corefile'],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 2 },
    volumeMounts: [{ name: 'configuration', mountPath: '/etc/coredns' }],
  };
  const spec = {
    serviceAccountName: 'coredns',
    dnsPolicy: 'Default',
    containers: [container],
    volumes: [{ name: 'configuration', configMap: { name: 'coredns' } }],
  };
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ];
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'coredns' }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'coredns' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'coredns' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: COREFILE } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace: NAMESPACE, labels },
      spec: { clusterIP: NAME_SERVER, selector: labels, ports },
    },
  ];
  return objects;
}
