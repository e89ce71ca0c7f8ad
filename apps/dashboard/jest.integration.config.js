import preset from '../../jest.integration.preset.js';

export default { ...preset };
