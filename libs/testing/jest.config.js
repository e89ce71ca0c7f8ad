import preset from './jest-mongo.preset.js';

export default { ...preset };
