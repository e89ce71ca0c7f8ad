export { ofKind } from './manifest.ts';
export type * from './manifest.ts';
export { renderOverlay, type Rendered, ROOT, SAMPLE_SECRETS } from './render.ts';
export { kustomize } from './tools.ts';
