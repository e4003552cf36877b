import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';
import { build } from 'esbuild';
import { tools } from '../src/tools.ts';

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

test.each(['exchange', 'status', 'logs', 'doctor', 'backup'])(
  '%s needs no generated code, so that the launcher does not look at it',
  async (tool) => {
    const loaded = await loadedBy(tools[tool]!.script);
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.filter((file) => /generated|^libs\/(rpc|command-catalog)\//.test(file))).toEqual([]);
  },
);

test('the look at the settings of npm start needs no generated code, and refuses wrong ones', async () => {
  const check = 'deploy/local/check-settings.ts';
  const loaded = await loadedBy(check);
  expect(loaded).toContain('deploy/local/read-settings.ts');
  expect(loaded.filter((file) => /generated|^libs\/(rpc|command-catalog)\//.test(file))).toEqual([]);
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, check), '--port-bse', '9000'], {
    encoding: 'utf8',
    env: bareEnvironment,
  });
  expect(status).toBe(2);
  expect(stderr).toContain('Did you mean --port-base?');
});
