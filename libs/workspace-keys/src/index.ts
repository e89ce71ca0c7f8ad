export * from './key.authenticator.ts';
export * from './key.check.ts';
export * from './key.verifier.ts';
export * from './verified-key.ts';
export * from './workspace.quota.ts';
export { createReportKeeper } from './report.keeper.ts';
