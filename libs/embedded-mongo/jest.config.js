import preset from '../../jest.preset.js';

// Each test starts real servers, several times over.
export default { ...preset, testTimeout: 90_000 };
