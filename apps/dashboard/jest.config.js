import mongoPreset from '@tollkeeper/testing/jest-mongo.preset.js';

export default { ...mongoPreset };
