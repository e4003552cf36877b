/**
 * Proves that the rules of this repository work: lints imports, SQL, long functions and long files that must be refused, as if they
 * stood in files of real projects, and some that must pass. It finds a rule that is switched off or has lost the project graph.
 */
import { ESLint } from 'eslint';
import path from 'node:path';
import ts from 'typescript-eslint';

const canaries = [
  { file: 'libs/ids/src/index.ts', imports: '@longwave/service-kit', refused: true, why: 'contract → platform' },
  { file: 'libs/feed/src/index.ts', imports: '@longwave/postgres', refused: true, why: 'logic → platform' },
  { file: 'libs/postgres/src/index.ts', imports: '@longwave/feed', refused: true, why: 'platform → logic' },
  { file: 'apps/encoder/src/config.ts', imports: '@longwave/fleet', refused: true, why: 'app → testing' },
  { file: 'apps/encoder/src/config.ts', imports: '../../management/src/config.ts', refused: true, why: 'app → app' },
  { file: 'apps/cli/src/main.ts', imports: '../../management/src/config.ts', refused: true, why: 'tool → app' },
  { file: 'apps/web/src/routes.ts', imports: '@longwave/problems', refused: true, why: 'web → contract' },
  { file: 'apps/web/src/routes.ts', imports: '@longwave/postgres', refused: true, why: 'web → platform' },
  { file: 'apps/web/src/routes.ts', imports: '../../encoder/src/config.ts', refused: true, why: 'web → app' },
  { file: 'apps/web/src/routes.ts', imports: '@longwave/command-catalog', refused: false, why: 'web → catalog' },
  { file: 'apps/encoder/src/config.ts', imports: '@longwave/service-kit', refused: false, why: 'app → platform' },
  { file: 'apps/cli/src/main.ts', imports: '@longwave/fleet', refused: false, why: 'tool → testing' },
];

/** Imports of the web application, which runs in browsers. */
const ofBrowsers = [
  {
    file: 'apps/web/src/routes.ts',
    code: "import { join } from 'node:path';\nexport const canary = join;\n",
    refused: true,
  },
  {
    file: 'apps/web/src/parts/page.tsx',
    code: "import { productCatalog } from '@longwave/command-catalog';\nexport const canary = productCatalog;\n",
    refused: true,
  },
  {
    file: 'apps/web/src/routes.ts',
    code: "import type { Attributes } from '@longwave/command-catalog';\nexport type Canary = Attributes<'podcasts'>;\n",
    refused: false,
  },
];

/** SQL on a table of the versioned store. */
const storeSql = [
  { file: 'apps/management/src/background/clock.ts', refused: true },
  { file: 'apps/management/src/hosting/episodes/episode-table.ts', refused: false },
];

/** Functions: how many lines they have, of which those below the first of a function inside them. */
const functions = [
  { file: 'apps/encoder/src/config.ts', name: 'canary', lines: 60, inside: 0, refused: false },
  { file: 'apps/encoder/src/config.ts', name: 'canary', lines: 61, inside: 0, refused: true },
  { file: 'apps/encoder/src/config.ts', name: 'canary', lines: 110, inside: 50, refused: false },
  { file: 'apps/encoder/src/config.ts', name: 'canary', lines: 111, inside: 50, refused: true },
  { file: 'apps/encoder/src/config.ts', name: 'canary', lines: 110, inside: 60, refused: true },
  { file: 'tools/build.mjs', name: 'canary', lines: 61, inside: 0, refused: true },
  { file: 'apps/encoder/src/config.ts', name: 'createApp', lines: 61, inside: 0, refused: false },
];

/** Files by their number of lines. */
const files = [
  { file: 'apps/encoder/tests/artwork.test.ts', lines: 400, refused: false },
  { file: 'apps/encoder/tests/artwork.test.ts', lines: 401, refused: true },
  { file: 'tools/build.mjs', lines: 401, refused: true },
];

const root = path.resolve(import.meta.dirname, '..');
// No rule that is proved here knows types, which take longer to read than all canaries together.
const eslint = new ESLint({ cwd: root, overrideConfig: ts.configs.disableTypeChecked });
const holes = [];

/** Notes a hole unless the rule judges this code, as the text of the file, as it should. */
async function check(what, { file, refused }, ruleId, code) {
  const [{ messages }] = await eslint.lintText(code, { filePath: path.join(root, file) });
  const unread = messages.find(({ fatal }) => fatal);
  if (unread) holes.push(`${what} in ${file} could not be judged: ${unread.message}`);
  const isRefused = messages.some((message) => message.ruleId === ruleId && message.severity === 2);
  if (isRefused !== refused) holes.push(`${what} in ${file} was ${isRefused ? 'refused' : 'let through'}`);
}

for (const canary of canaries) {
  const code = `import * as imported from '${canary.imports}';\nexport const canary = imported;\n`;
  await check(`${canary.why}: importing ${canary.imports}`, canary, '@nx/enforce-module-boundaries', code);
}
for (const canary of ofBrowsers)
  await check('an import of a browser', canary, '@typescript-eslint/no-restricted-imports', canary.code);
for (const canary of storeSql) {
  const code = 'export const canary = `select id\n  from resource where id = $1`;\n';
  await check('SQL on the store', canary, 'no-restricted-syntax', code);
}
for (const canary of functions) {
  const { name, lines, inside } = canary;
  const nested = `  void (() => {${'\n'.repeat(inside)}  });\n`;
  const code = `export function ${name}() {\n${nested}${'\n'.repeat(lines - inside - 3)}}\n`;
  await check(`${name} of ${lines} lines, ${inside} inside,`, canary, 'longwave/own-lines', code);
}
for (const canary of files)
  await check(`${canary.lines} lines`, canary, 'max-lines', `${'\n'.repeat(canary.lines - 1)}export {};\n`);

for (const hole of holes) console.error(hole);
process.exit(holes.length === 0 ? 0 : 1);
