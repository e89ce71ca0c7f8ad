import preset from '../../jest.preset.js';

// The built package has the same name as its sources.
export default { ...preset, modulePathIgnorePatterns: ['<rootDir>/dist/'] };
