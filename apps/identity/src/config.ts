import {
  grpcServiceFields,
  httpOriginField,
  httpServiceFields,
  mongodbFields,
  serviceConfig,
} from '@tollkeeper/runtime';
import type { z } from 'zod';

/** Environment of the identity service. */
export const identityConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_identity'),
  PUBLIC_URL: httpOriginField().describe(
    'where browsers reach the gateway, e.g. https://tollkeeper.example.com; session cookies are Secure unless it is http on a loopback host',
  ),
});
export type IdentityConfig = z.infer<typeof identityConfig>;
