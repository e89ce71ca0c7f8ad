import { runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { gatewayConfig } from './config.ts';
import { createGateway } from './gateway.service.ts';

await runService({ name: 'gateway', version: manifest.version, config: gatewayConfig, create: createGateway });
