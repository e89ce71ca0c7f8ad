import preset from '../../jest.integration.preset.js';

// A first run that `prepare.ts` has not gone before builds the programs of Kubernetes.
export default { ...preset, testTimeout: 180_000 };
