import { BlockList, isIPv6 } from 'node:net';
import {
  appOf,
  type Labels,
  type Manifest,
  type NetworkPolicy,
  ofKind,
  type PolicyRule,
  portNumber,
  selects,
  type Workload,
} from './manifest.ts';
import type { Call } from './services.ts';

type Direction = 'ingress' | 'egress';

export function workloadsOf(manifests: Manifest[]): Workload[] {
  return [...ofKind(manifests, 'Deployment'), ...ofKind(manifests, 'StatefulSet')];
}

/** Every call between the workloads of one namespace that the policies on both ends allow. */
export function allowedCalls(manifests: Manifest[]): Call[] {
  const policies = ofKind(manifests, 'NetworkPolicy');
  const workloads = workloadsOf(manifests);
  return workloads.flatMap((from) =>
    workloads.flatMap((to) =>
      portsOf(to)
        .filter((port) => lets(policies, 'egress', from, to, port) && lets(policies, 'ingress', to, from, port))
        .map((port) => ({ from: appOf(from), to: appOf(to), port })),
    ),
  );
}

/** Whether the policies let a workload call `address` at `port`, outside of the cluster. */
export function reaches(manifests: Manifest[], from: Workload, address: string, port: number): boolean {
  const rules = rulesFor(ofKind(manifests, 'NetworkPolicy'), 'egress', from);
  return (
    rules === 'all' || rules.some((rule) => opensPort(rule, from, port) && (rule.to ?? []).some(includes(address)))
  );
}

/** Whether callers that no rule names, in the cluster or outside, may call the workload at `port`. */
export function isOpen(manifests: Manifest[], to: Workload, port: number): boolean {
  const rules = rulesFor(ofKind(manifests, 'NetworkPolicy'), 'ingress', to);
  return rules === 'all' || rules.some((rule) => opensPort(rule, to, port) && rule.from === undefined);
}

function portsOf({ spec }: Workload): number[] {
  return spec.template.spec.containers.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort));
}

/** The rules of all policies that select the workload; `all` if none does, which allows every call. */
function rulesFor(policies: NetworkPolicy[], direction: Direction, { spec }: Workload): PolicyRule[] | 'all' {
  const type = direction === 'ingress' ? 'Ingress' : 'Egress';
  const own = policies.filter(
    (policy) =>
      policy.spec.policyTypes.includes(type) && selects(policy.spec.podSelector, spec.template.metadata.labels),
  );
  return own.length === 0 ? 'all' : own.flatMap((policy) => policy.spec[direction] ?? []);
}

function lets(policies: NetworkPolicy[], direction: Direction, at: Workload, peer: Workload, port: number): boolean {
  const rules = rulesFor(policies, direction, at);
  const listener = direction === 'ingress' ? at : peer;
  const { labels } = peer.spec.template.metadata;
  return rules === 'all' || rules.some((rule) => opensPort(rule, listener, port) && namesPod(rule, direction, labels));
}

function namesPod(rule: PolicyRule, direction: Direction, labels: Labels): boolean {
  const peers = direction === 'ingress' ? rule.from : rule.to;
  // A peer in another namespace is not one of the workloads here.
  return peers === undefined || peers.some((peer) => isHere(peer.namespaceSelector) && selectsPod(peer, labels));
}

function isHere(namespaceSelector: object | undefined): boolean {
  return namespaceSelector === undefined || Object.keys(namespaceSelector).length === 0;
}

function selectsPod({ podSelector, ipBlock }: NonNullable<PolicyRule['to']>[number], labels: Labels): boolean {
  return ipBlock === undefined && selects(podSelector ?? {}, labels);
}

function opensPort({ ports }: PolicyRule, { spec }: Workload, port: number): boolean {
  const [container] = spec.template.spec.containers;
  return (
    ports === undefined || ports.some((rule) => container !== undefined && portNumber(container, rule.port) === port)
  );
}

function includes(address: string) {
  return ({ ipBlock }: NonNullable<PolicyRule['to']>[number]): boolean =>
    ipBlock !== undefined &&
    inRange(ipBlock.cidr, address) &&
    !(ipBlock.except ?? []).some((cidr) => inRange(cidr, address));
}

function inRange(cidr: string, address: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  const [family, own] = [network, address].map((text) => (isIPv6(text) ? 'ipv6' : 'ipv4')) as ['ipv4', 'ipv4'];
  const range = new BlockList();
  range.addSubnet(network, Number(prefix), family);
  return family === own && range.check(address, own);
}
