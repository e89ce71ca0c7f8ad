import preset from '../../jest.preset.js';

// For `npm run test:s3`, which CI leaves out.
export default {
  ...preset,
  testMatch: ['<rootDir>/test/*.by-hand.ts'],
  reporters: ['default'],
};
