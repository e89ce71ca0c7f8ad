import { runService } from '@tollkeeper/runtime';
import { gatewayConfig } from './config.ts';
import { createGateway } from './gateway.service.ts';

await runService({ name: 'gateway', config: gatewayConfig, create: createGateway });
