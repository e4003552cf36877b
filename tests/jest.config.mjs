import preset from '../jest.preset.mjs';

/** Whole fleets: one file at a time, minutes allowed. */
export default {
  ...preset(import.meta.dirname),
  testMatch: ['<rootDir>/**/*.test.ts'],
  globalSetup: '<rootDir>/_run.mjs',
  globalTeardown: '<rootDir>/_end-run.mjs',
  testSequencer: '<rootDir>/_sequencer.mjs',
  testTimeout: 300_000,
  maxWorkers: 1,
};
