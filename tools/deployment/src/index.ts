export { CHART, PRODUCTION_VALUES, renderChart } from './chart.ts';
export { ofKind } from './manifest.ts';
export type * from './manifest.ts';
export { renderOverlay, type Rendered, ROOT, SAMPLE_SECRETS } from './render.ts';
export { helm, kustomize } from './tools.ts';
