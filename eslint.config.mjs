import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import ts from 'typescript-eslint';
import { boundaries, boundariesOfTests } from './tools/boundaries.mjs';

export default [
  { ignores: ['**/dist', '**/generated/**', '**/node_modules', '.nx', '.longwave'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        WebAssembly: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        performance: 'readonly',
        Buffer: 'readonly',
        fetch: 'readonly',
      },
    },
  },
  {
    files: ['**/*.ts'],
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': ['error', boundaries],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 400 }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportAllDeclaration', message: 'Name what you export: no barrels.' },
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/tests/**/*.ts'],
    rules: { 'max-lines': 'off', '@nx/enforce-module-boundaries': ['error', boundariesOfTests] },
  },
];
