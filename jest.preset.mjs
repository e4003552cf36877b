/** One jest configuration for every project: pure ESM, TypeScript through swc, tests beside the file or in `tests/`. */
import path from 'node:path';

const root = import.meta.dirname;

/** @param {string} projectRoot absolute folder of the project */
export default function preset(projectRoot) {
  return {
    rootDir: projectRoot,
    displayName: path.basename(projectRoot),
    testEnvironment: 'node',
    testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/tests/**/*.test.ts'],
    extensionsToTreatAsEsm: ['.ts'],
    transform: {
      '^.+\\.ts$': [
        path.join(root, 'node_modules/@swc/jest/index.js'),
        {
          sourceMaps: 'inline',
          module: { type: 'es6' },
          jsc: { target: 'es2024', parser: { syntax: 'typescript' }, experimental: { keepImportAttributes: true } },
        },
      ],
    },
    transformIgnorePatterns: ['/node_modules/'],
    setupFilesAfterEnv: [path.join(root, 'tools/jest-bytes.mjs')],
    modulePathIgnorePatterns: ['<rootDir>/dist'],
    testTimeout: 120_000,
  };
}
