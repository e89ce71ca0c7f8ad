export { type Part, PARTS } from './parts.ts';
export { type StandaloneConfig, standaloneConfig } from './config.ts';
export { createStandalone, type StandaloneDeps } from './standalone.service.ts';
export { createTerminal, type Terminal } from './terminal.ts';
