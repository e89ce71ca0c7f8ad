export { default } from '../../jest.integration.preset.js';
