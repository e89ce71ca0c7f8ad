import { type Container, type Manifest, ofKind, type PodSpec, renderOverlay } from '@tollkeeper/deployment';
import type { ImageTag } from './images.ts';
import type { Receiver } from './receiver.ts';

const CERTIFICATE = { configMap: 'receiver-certificate', folder: '/receiver', file: 'certificate.pem' };

export interface LocalOverlay {
  /** A folder with the files of the repository. */
  root: string;
  /** Which images of the services its pods run. */
  tag: ImageTag;
  receiver: Receiver;
  namespace: string;
}

/** k8s/overlays/local, with a notifier that trusts `receiver` and may send to its private address. */
export async function localManifests({ root, tag, receiver, namespace }: LocalOverlay): Promise<Manifest[]> {
  const { manifests } = await renderOverlay('local', [], root);
  const cidr = `${new URL(receiver.url).hostname}/32`;
  for (const deployment of ofKind(manifests, 'Deployment')) {
    const pod = deployment.spec.template.spec;
    const [container] = pod.containers;
    if (container === undefined) continue;
    container.image = container.image.replace(/:local$/, `:${tag}`);
    if (!deployment.metadata.name.endsWith('-notifier')) continue;
    (container.env ??= []).push({ name: 'DESTINATION_ALLOW_CIDRS', value: cidr });
    trust(pod, container);
  }
  const metadata = { name: CERTIFICATE.configMap, namespace };
  const certificate = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { [CERTIFICATE.file]: receiver.certificate },
  };
  // The namespace comes first.
  return [...manifests.slice(0, 1), certificate, ...manifests.slice(1)];
}

function trust(pod: PodSpec & { volumes?: object[] }, container: Container & { volumeMounts?: object[] }): void {
  const { configMap, folder, file } = CERTIFICATE;
  (container.env ??= []).push({ name: 'NODE_EXTRA_CA_CERTS', value: `${folder}/${file}` });
  (container.volumeMounts ??= []).push({ name: 'receiver', mountPath: folder, readOnly: true });
  (pod.volumes ??= []).push({ name: 'receiver', configMap: { name: configMap } });
}
