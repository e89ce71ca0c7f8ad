import preset from '../../jest.preset.js';

export default { ...preset, testTimeout: 120_000 };
