import preset from '../testing/jest-mongo.preset.js';

export default { ...preset };
