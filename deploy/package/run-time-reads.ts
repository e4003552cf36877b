import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { z } from 'zod';

/** What is read of esbuild's metafile; it has further members. */
export const metafileSchema = z.object({
  inputs: z.record(z.string(), z.unknown()),
  outputs: z.record(
    z.string(),
    z.object({ imports: z.array(z.object({ path: z.string(), external: z.boolean().optional() })) }),
  ),
});
type Metafile = z.infer<typeof metafileSchema>;

/** What a bundled program opens when it runs. */
export interface RunTimeReads {
  /** npm packages that are not inside of the bundle. */
  readonly packages: readonly string[];
  /** Files and folders of ours, relative to the folder of the program's package. */
  readonly files: readonly string[];
}

/** `import.meta.resolve('swagger-ui-dist/…')`, `createRequire(…).resolve('…')`: a file of a package. */
const resolved = /(?:import\.meta|createRequire\([^)]*\))\.resolve\(\s*['"`]([^'"`$]+)/g;
/** `new URL('../data/plans.json', import.meta.url)`: a file of ours; of a template, the folder. */
const besideModule = /new URL\(\s*['"`]([^'"`$]+)(?:\$\{[^`]*)?['"`],\s*import\.meta\.url/g;
/** Other ways to a file beside a module, which this page cannot follow. */
const unknownWay = /import\.meta\.(dirname|filename)/;

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

const firstGroups = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

/**
 * Finds what a bundle reads besides itself: its external imports, and the files that our own sources name.
 * Throws when a source names files in a way that cannot be followed.
 * @param folder what the paths of `metafile` are relative to
 * @param outdir the folder of the bundle, relative to `folder`: paths beside a module hold there as they do in its source
 */
export function runTimeReads(metafile: Metafile, folder: string, outdir: string): RunTimeReads {
  const packages = new Set<string>();
  const files = new Set<string>();
  for (const { imports } of Object.values(metafile.outputs))
    for (const each of imports) if (each.external && !isBuiltin(each.path)) packages.add(packageOf(each.path));
  for (const input of Object.keys(metafile.inputs).filter((each) => !each.includes('node_modules/'))) {
    const file = path.resolve(folder, input);
    if (!/\.(ts|mjs)$/.test(file)) continue;
    const text = readFileSync(file, 'utf8');
    if (unknownWay.test(text))
      throw new Error(`${file} uses import.meta.dirname or filename. Write new URL('…', import.meta.url) instead.`);
    for (const specifier of firstGroups(text, resolved)) packages.add(packageOf(specifier));
    for (const each of firstGroups(text, besideModule)) files.add(path.join(outdir, each));
  }
  return { packages: [...packages].sort(), files: [...files].sort() };
}
