import path from 'node:path';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '../../..');

/** The files of the repository that a program loads when it starts: its static imports, and theirs. */
async function loadedBy(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    ...{ entryPoints: [path.join(root, entry)], absWorkingDir: root, bundle: true, write: false, metafile: true },
    ...{ platform: 'node', format: 'esm', splitting: true, outdir: 'unwritten' },
    plugins: [
      {
        name: 'static imports of the repository',
        setup: ({ onResolve }) => {
          onResolve({ filter: /.*/ }, ({ kind, path: name }) =>
            kind === 'dynamic-import' || !/^([./]|@longwave\/)/.test(name) ? { path: name, external: true } : undefined,
          );
        },
      },
    ],
  });
  return Object.keys(metafile.inputs);
}

test('a tool starts without the clients of the services, which take seconds to load', async () => {
  const loaded = await loadedBy('apps/cli/src/main.ts');
  expect(loaded).toContain('apps/cli/src/tools.ts');
  expect(loaded.filter((file) => /generated|^libs\/(rpc|test-kit|command-catalog|services)\//.test(file))).toEqual([]);
  expect(loaded.length).toBeLessThan(20);
});

test('exchange needs no generated code, so that the launcher does not look at it', async () => {
  const loaded = await loadedBy('apps/cli/src/exchange/main.ts');
  expect(loaded).toContain('libs/exchange-client/src/index.ts');
  expect(loaded.filter((file) => /generated|^libs\/(rpc|fleet|command-catalog)\//.test(file))).toEqual([]);
});
