import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import ts from 'typescript-eslint';
import { boundaries, boundariesOfTests } from './tools/boundaries.mjs';
import { ownLines } from './tools/own-lines.mjs';

const noBarrels = { selector: 'ExportAllDeclaration', message: 'Name what you export: no barrels.' };

/** Tables of the versioned store (libs/command-pipeline/prisma/store.prisma). */
const storeTables = 'resource|revision|link|unique_key|operation|receipt|receipt_chain|idempotency_record|outbox';
const namesStoreTable = `/\\b(from|join|into|update)\\s+(${storeTables})\\b/`;
const noStoreSql = ['TemplateElement[value.raw=', 'Literal[value='].map((selector) => ({
  selector: `${selector}${namesStoreTable}]`,
  message:
    'Ask the store of libs/command-pipeline, or a file named *-table.ts: SQL on its tables stands only there (ADR 28).',
}));

/** The catalog types commands, events and stored resources; these two ways around it hide a misspelt name. */
const pastCatalog = [
  {
    selector: 'TSAsExpression > TSAsExpression[typeAnnotation.type="TSUnknownKeyword"]',
    message: 'Take the type from the catalog (`Resource`, `EventOf`, `ChangesOf`) or parse the value.',
  },
  {
    selector:
      ':matches(MemberExpression[object.name="attributes"], MemberExpression[object.property.name="attributes"])[computed=true][property.type="Literal"]',
    message: 'Name the type of the resource, so that its attributes are typed: `ResourceRow<"podcasts">`.',
  },
];

/** What no code of a browser may import. */
const notInBrowsers = {
  patterns: [
    { regex: '^node:', message: 'This runs in browsers.' },
    {
      regex: '^@longwave/(?!command-catalog(/|$))',
      message: 'The web application takes types of libs/command-catalog, and contracts/*.json.',
    },
    {
      regex: '^@longwave/command-catalog',
      allowTypeImports: true,
      message: 'Types alone: the catalog itself is 109 kB in a browser.',
    },
  ],
};

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
    files: ['**/*.{ts,tsx,mjs}'],
    rules: { 'max-lines': ['error', { max: 400 }] },
  },
  {
    // Short enough to be read as a whole. Functions that put a program together are lists.
    files: ['**/*.{ts,tsx,mjs}'],
    ignores: ['**/*.test.ts', '**/tests/**'],
    plugins: { longwave: { rules: { 'own-lines': ownLines } } },
    rules: { 'longwave/own-lines': ['error', { max: 60, except: ['createApp', 'startFleetOf'] }] },
  },
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': ['error', boundaries],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', noBarrels],
    },
  },
  {
    // Rules that know types. A promise that nobody waits for loses its error, so it says `void` or is awaited.
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-base-to-string': 'error',
      '@typescript-eslint/no-for-in-array': 'error',
      '@typescript-eslint/no-array-delete': 'error',
      '@typescript-eslint/restrict-plus-operands': 'error',
    },
  },
  {
    // The web application is checked by its own configurations of the type checker: browsers have other globals than Node.
    files: ['apps/web/{src,vite}/**/*.{ts,tsx}', 'apps/web/vite.config.ts', 'apps/web/tests/_upload-page.ts'],
    languageOptions: {
      parserOptions: {
        project: ['./apps/web/tsconfig.json', './apps/web/tsconfig.tests.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
  },
  {
    // It runs in browsers, and knows of the platform only what its contracts say.
    files: ['apps/web/src/**/*.{ts,tsx}'],
    ignores: ['**/*.test.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', notInBrowsers] },
  },
  {
    files: ['apps/web/src/look/theme-script.js'],
    languageOptions: { globals: { localStorage: 'readonly', document: 'readonly' } },
  },
  {
    files: ['apps/*/src/**/*.ts'],
    ignores: ['apps/web/**', '**/*.test.ts', '**/tests/**'],
    rules: { 'no-restricted-syntax': ['error', noBarrels, ...pastCatalog] },
  },
  {
    files: ['apps/*/src/**/*.ts'],
    ignores: ['apps/web/**', '**/*-table.ts', '**/*.test.ts', '**/tests/**'],
    rules: { 'no-restricted-syntax': ['error', noBarrels, ...pastCatalog, ...noStoreSql] },
  },
  {
    files: ['**/*.test.ts', '**/tests/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': ['error', boundariesOfTests] },
  },
];
