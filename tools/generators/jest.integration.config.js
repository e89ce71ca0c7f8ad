import preset from '../../jest.integration.preset.js';

// The first run compiles kustomize.
export default { ...preset, testTimeout: 600_000 };
