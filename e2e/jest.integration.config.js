import preset from '../jest.integration.preset.js';
import { TWO_AT_A_TIME } from './jest.config.js';

export default { ...preset, ...TWO_AT_A_TIME };
