import type { KubernetesObject } from './kubernetes.api.ts';

const NAME = 'no-secret-in-a-variable';
const VARIABLES = 'c.?env.orValue([]).all(v, !v.?valueFrom.?secretKeyRef.hasValue())';
const WHOLE_SECRETS = 'c.?envFrom.orValue([]).all(f, !f.?secretRef.hasValue())';

/**
 * A cluster policy that refuses pods with secrets in their environment, where any process and every dump shows them.
 */
export const SECRETS_POLICY: KubernetesObject[] = [
  policyObject('ValidatingAdmissionPolicy', {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] }],
    },
    validations: [
      {
        expression: `(object.spec.containers + object.spec.?initContainers.orValue([])).all(c, ${VARIABLES} && ${WHOLE_SECRETS})`,
        message: 'a secret is in a variable: mount it as a file',
      },
    ],
  }),
  policyObject('ValidatingAdmissionPolicyBinding', { policyName: NAME, validationActions: ['Deny'] }),
];

function policyObject(kind: string, spec: object): KubernetesObject & { spec: object } {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: NAME }, spec };
}
