import preset from '../../jest.integration.preset.js';

// Each test starts real brokers, several times over.
export default { ...preset, testTimeout: 180_000 };
