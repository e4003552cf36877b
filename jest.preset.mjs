/** One jest configuration for every project: pure ESM, types stripped as Node strips them for the programs, tests beside the file or in `tests/`. */
import path from 'node:path';

const root = import.meta.dirname;

/** @param {string} projectRoot absolute folder of the project */
export default function preset(projectRoot) {
  return {
    rootDir: projectRoot,
    displayName: path.basename(projectRoot),
    testEnvironment: path.join(root, 'tools/jest-environment.mjs'),
    testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/tests/**/*.test.ts'],
    extensionsToTreatAsEsm: ['.ts'],
    // None: jest then strips types as Node does.
    transform: {},
    setupFilesAfterEnv: [path.join(root, 'tools/jest-bytes.mjs')],
    modulePathIgnorePatterns: ['<rootDir>/dist'],
    testTimeout: 120_000,
  };
}
