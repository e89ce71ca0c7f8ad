import mongoPreset from '../../libs/testing/jest-mongo.preset.js';

export default { ...mongoPreset };
