export { gatewayConfig, type GatewayConfig } from './config.ts';
export { createGateway, type GatewayDeps, type GatewayService } from './gateway.service.ts';
