export * from './agent.labels.ts';
