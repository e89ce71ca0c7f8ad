import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAddressGuard } from '@tollkeeper/net';
import { allCalls, PORTS, SERVICES, TOPOLOGY, usesLog } from '@tollkeeper/topology';
import { environmentOf } from '../src/environment.ts';
import { appOf, type Labels, type Manifest, ofKind, selects, type Workload } from '../src/manifest.ts';
import { allowedCalls, isOpen, reaches, workloadsOf } from '../src/network.ts';
import { OPTIONAL_SECRETS, renderOverlay, SAMPLE_SECRETS } from '../src/render.ts';
import { type Call, calledAddresses, inOrder, isService } from '../src/services.ts';

const PUBLIC_ADDRESS = '93.184.215.14';
const PUBLIC_ADDRESS_V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';
const SPECIAL_ADDRESSES = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.20.0.1', '192.0.0.8', '192.168.1.1'],
  ...['198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::1', 'fd00::1', 'fe80::1', 'ff02::1', '64:ff9b::a00:1', '2001::a00:1', '2002:a00:1::', '::ffff:10.0.0.1'],
];
/** An address in the example networks of the production overlay. */
const BACKING_SERVICE = '10.20.30.40';
const SECRETS = {
  'tollkeeper-secrets': {
    ...SAMPLE_SECRETS,
    ...OPTIONAL_SECRETS,
    MONGODB_URI: 'mongodb://mongodb:27017/?replicaSet=rs0',
    KAFKA_SASL_USERNAME: 'u',
    KAFKA_SASL_PASSWORD: 'p',
  },
};

let local: Manifest[];
let production: Manifest[];

beforeAll(async () => {
  local = (await renderOverlay('local')).manifests;
  production = (await renderOverlay('production')).manifests;
});

function environment(workload: Workload, manifests: Manifest[]): Labels {
  const generated = Object.fromEntries(
    ofKind(manifests, 'Secret').map(({ metadata }) => [metadata.name, SECRETS['tollkeeper-secrets']]),
  );
  return environmentOf(workload.spec.template.spec, manifests, { ...SECRETS, ...generated });
}

/** The calls between services according to their settings. */
function callsOfSettings(manifests: Manifest[]): Call[] {
  return ofKind(manifests, 'Deployment').flatMap((from) =>
    calledAddresses(environment(from, manifests)).map(({ protocol, host, port }) => {
      const service = ofKind(manifests, 'Service').find(
        ({ metadata, spec }) =>
          metadata.name === host && spec.ports.some((open) => open.name === protocol && open.port === port),
      );
      const to = workloadsOf(manifests).find(
        ({ spec }) => service && selects({ matchLabels: service.spec.selector }, spec.template.metadata.labels),
      );
      return { from: appOf(from), to: to ? appOf(to) : `no ${protocol} behind ${host}`, port };
    }),
  );
}

describe('the network policies', () => {
  const toServices: Call[] = allCalls().map(({ from, to, port }) => ({ from, to, port: PORTS[port] }));

  it('let every service call what the table says, and nothing else', () => {
    const backing: Call[] = SERVICES.flatMap((from) => [
      ...(TOPOLOGY[from].mongodb ? [{ from, to: 'mongodb', port: 27017 }] : []),
      ...(usesLog(from) ? [{ from, to: 'kafka', port: 9092 }] : []),
    ]);
    // The gateway's public port is open to all, but policies let no service call it.
    const calls = allowedCalls(local).filter(({ from }) => isService(from));
    expect(inOrder(calls)).toEqual(inOrder([...toServices, ...backing]));
    expect(inOrder(allowedCalls(production))).toEqual(inOrder(toServices));
  });

  it('stand beside settings that name the same calls', () => {
    for (const manifests of [local, production]) {
      expect(inOrder(callsOfSettings(manifests))).toEqual(inOrder(toServices));
    }
  });

  it('deny by default, to the pods of every service and from them', () => {
    for (const manifests of [local, production]) {
      for (const { spec } of ofKind(manifests, 'Deployment')) {
        const types = ofKind(manifests, 'NetworkPolicy')
          .filter((policy) => selects(policy.spec.podSelector, spec.template.metadata.labels))
          .flatMap((policy) => policy.spec.policyTypes);
        expect(types).toEqual(expect.arrayContaining(['Ingress', 'Egress']));
      }
    }
  });

  it('let nobody but the services that use them to the local MongoDB and Kafka, and these out to nothing', () => {
    const toThem = allowedCalls(local).filter(({ to }) => ['mongodb', 'kafka'].includes(to));
    expect(toThem.filter(({ from }) => !isService(from))).toEqual([]);
    expect(allowedCalls(local).filter(({ from }) => ['mongodb', 'kafka'].includes(from))).toEqual([]);
    for (const set of ofKind(local, 'StatefulSet')) {
      expect([27017, 9092].filter((port) => isOpen(local, set, port))).toEqual([]);
      expect(reaches(local, set, PUBLIC_ADDRESS, 443)).toBe(false);
    }
  });

  it('open to everybody the ports that the table opens, and no other', () => {
    const open = ofKind(production, 'Deployment').flatMap((deployment) =>
      [...Object.values(PORTS), 9100]
        .filter((port) => isOpen(production, deployment, port))
        .map((port) => `${appOf(deployment)}:${port}`),
    );
    expect(open.sort()).toEqual(
      SERVICES.flatMap((service) => TOPOLOGY[service].open.map((port) => `${service}:${PORTS[port]}`)).sort(),
    );
  });

  it('know an address for special that the notifier itself refuses', () => {
    const { allows } = createAddressGuard([]);
    expect(SPECIAL_ADDRESSES.filter(allows)).toEqual([]);
    expect([PUBLIC_ADDRESS, PUBLIC_ADDRESS_V6].filter(allows)).toEqual([PUBLIC_ADDRESS, PUBLIC_ADDRESS_V6]);
  });

  it('let those out to the internet that the table lets out, there to https, and never to a special address', () => {
    for (const deployment of ofKind(production, 'Deployment')) {
      const service = appOf(deployment);
      const goesOut = isService(service) && TOPOLOGY[service].internet;
      for (const address of [PUBLIC_ADDRESS, PUBLIC_ADDRESS_V6]) {
        expect([service, reaches(production, deployment, address, 443)]).toEqual([service, goesOut]);
        expect(reaches(production, deployment, address, 80)).toBe(false);
      }
      const special = SPECIAL_ADDRESSES.filter((address) => reaches(production, deployment, address, 443));
      expect([service, special]).toEqual([service, []]);
    }
  });

  it('let identity and the notifier alone out to mail servers at public addresses, where the component is there', async () => {
    const withMail = (await renderOverlay('production', ['mail'])).manifests;
    const reaching = (manifests: Manifest[], address: string, port: number) =>
      ofKind(manifests, 'Deployment')
        .filter((deployment) => reaches(manifests, deployment, address, port))
        .map(appOf);
    for (const port of [465, 587]) {
      for (const address of [PUBLIC_ADDRESS, PUBLIC_ADDRESS_V6]) {
        expect([port, reaching(withMail, address, port)]).toEqual([port, ['identity', 'notifier']]);
        expect([port, reaching(production, address, port)]).toEqual([port, []]);
      }
      expect(SPECIAL_ADDRESSES.flatMap((address) => reaching(withMail, address, port))).toEqual([]);
    }
  });

  it('let those services out to MongoDB and Kafka that use them', () => {
    for (const deployment of ofKind(production, 'Deployment')) {
      const service = appOf(deployment);
      expect([service, reaches(production, deployment, BACKING_SERVICE, 27017)]).toEqual([
        service,
        isService(service) && TOPOLOGY[service].mongodb,
      ]);
      expect([service, reaches(production, deployment, BACKING_SERVICE, 9093)]).toEqual([
        service,
        isService(service) && usesLog(service),
      ]);
    }
  });
});
