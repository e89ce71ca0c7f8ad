export { type ProviderSettings, type SsoProvider, startSsoProvider } from './provider.process.ts';
