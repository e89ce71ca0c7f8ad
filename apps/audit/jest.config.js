import preset from '../../libs/testing/jest-mongo.preset.js';

export default { ...preset };
