import preset from '../jest.preset.js';

/** Every suite runs whole processes, and waits for them half of the time: two suites keep two processors busy. */
export const TWO_AT_A_TIME = { maxWorkers: 2, testSequencer: `${import.meta.dirname}/longest-first.sequencer.js` };

export default { ...preset, ...TWO_AT_A_TIME };
