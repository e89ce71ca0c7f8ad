import preset from '@tollkeeper/testing/jest-mongo.preset.js';

export default { ...preset };
