export { type ConsoleConfig, consoleConfig } from './config.ts';
export { createConsole, type ConsoleDeps, type ConsoleService } from './console.service.ts';
