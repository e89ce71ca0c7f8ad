import preset from '../../jest.integration.preset.js';

// The first run downloads promtool.
export default { ...preset, testTimeout: 600_000 };
