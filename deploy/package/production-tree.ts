import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { services, youngGenerationMbOf, type ServiceName } from '@longwave/services';
import { lockedPackages } from './locked-packages.ts';
import { metafileSchema, runTimeReads, type RunTimeReads } from './run-time-reads.ts';

/** The repository, with installed packages and generated code. */
const root = path.resolve(import.meta.dirname, '../..');

/** A finished tree. Sizes are sums of the files' lengths in bytes. */
export interface ProductionTree {
  readonly folder: string;
  /** Our own code, with the packages that are bundled into it. */
  readonly programBytes: number;
  /** Data and migrations that it reads. */
  readonly fileBytes: number;
  /** npm packages beside the bundle. */
  readonly packageBytes: number;
  readonly packageCount: number;
}

/** Nothing reads types, source maps and tests of packages at run time. */
const isUnread = (file: string) => /\.(map|[cm]?ts|flow|test\.js)$/.test(file);

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.reduce(
    (sum, entry) => (entry.isFile() ? sum + statSync(path.join(entry.parentPath, entry.name)).size : sum),
    0,
  );
}

/** Copies a package without the packages inside of it, which have entries of their own in the lock file. */
function copyPackage(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (source) => !isUnread(source) && path.relative(from, source).split(path.sep)[0] !== 'node_modules',
  });
}

const run = promisify(execFile);

/** Bundles programs of `folder` into `outdir` of the tree. Answers what they read. */
async function bundle(tree: string, folder: string, entryPoints: readonly string[], outbase: string, outdir: string) {
  const metafile = `${path.join(tree, outdir)}.json`;
  const options = ['--outbase', outbase, '--outdir', path.join(tree, outdir), '--metafile', metafile];
  await run(process.execPath, [path.join(root, 'tools/build.mjs'), ...entryPoints, ...options], { cwd: folder });
  const reads = runTimeReads(metafileSchema.parse(JSON.parse(readFileSync(metafile, 'utf8'))), folder, outdir);
  rmSync(metafile);
  return reads;
}

/** Programs that run before a service does: the migrations of its schema; management's folder also prepares the engines for all. */
const toolsOf = (app: ServiceName): readonly string[] => [
  ...(services[app].schema === undefined ? [] : ['tools/migrate.mjs']),
  ...(app === 'management' ? ['tools/provision.mjs'] : []),
];

/** Bundles the programs of a service as the repository is laid out, so that paths beside a module hold. Answers what they read. */
async function bundleInto(tree: string, app: ServiceName): Promise<RunTimeReads> {
  mkdirSync(path.join(tree, 'apps', app), { recursive: true });
  const folder = path.join(root, 'apps', app);
  // A thread of a service has an entry point of its own.
  const entryPoints = ['src/main.ts', ...globSync('src/*-thread.ts', { cwd: folder })];
  const reads = [await bundle(tree, folder, entryPoints, 'src', `apps/${app}/dist`)];
  if (toolsOf(app).length > 0) reads.push(await bundle(tree, root, toolsOf(app), 'tools', 'tools'));
  return {
    packages: [...new Set(reads.flatMap(({ packages }) => packages))],
    files: [...new Set(reads.flatMap(({ files }) => files))],
  };
}

/** What a service reads of the repository besides its bundle, relative to the root of the repository. */
function filesOf(app: ServiceName, { files }: RunTimeReads): readonly string[] {
  const { files: named = {}, schema } = services[app];
  return [
    ...new Set([...files, ...Object.values(named), ...(schema === undefined ? [] : [`apps/${app}/prisma`]), 'LICENSE']),
  ];
}

/** Describes the tree for npm, and for `node .`, which starts the service. */
function packageJson(app: ServiceName, dependencies: Readonly<Record<string, string>>): string {
  const { version, license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const main = `apps/${app}/dist/main.js`;
  const start = `node --max-semi-space-size=${youngGenerationMbOf(services[app])} ${main}`;
  const described = { name: `@longwave/${app}`, version, private: true, license, type: 'module', main };
  return `${JSON.stringify({ ...described, engines: { node: '>=24' }, scripts: { start }, dependencies }, null, 2)}\n`;
}

/** An earlier tree of the same service may be replaced; nothing else. */
function assertReplaceable(folder: string, app: ServiceName): void {
  if (!existsSync(folder)) return;
  const file = path.join(folder, 'package.json');
  const { name } = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }) : {};
  if (name !== `@longwave/${app}`)
    throw new Error(`${folder} is there and is no package of ${app}. Name another folder: --out FOLDER`);
}

/**
 * Makes `out/<app>`: everything that the service needs besides Node 24, and nothing else. An earlier one is replaced when the new one
 * is complete. Rejects when the installed packages are not those of the lock file.
 */
export async function makeProductionTree(app: ServiceName, out: string): Promise<ProductionTree> {
  const folder = path.join(out, app);
  assertReplaceable(folder, app);
  mkdirSync(out, { recursive: true });
  const tree = mkdtempSync(path.join(out, `.${app}-`));
  try {
    const reads = await bundleInto(tree, app);
    const programBytes = bytesIn(tree);
    const files = filesOf(app, reads).filter((file) => existsSync(path.join(root, file)));
    for (const file of files) {
      mkdirSync(path.dirname(path.join(tree, file)), { recursive: true });
      cpSync(path.join(root, file), path.join(tree, file), { recursive: true, dereference: true });
    }
    const packages = lockedPackages(root, reads.packages);
    for (const { place } of packages) copyPackage(path.join(root, place), path.join(tree, place));
    const versions = new Map(packages.map(({ place, version }) => [place, version]));
    const direct = reads.packages.toSorted().map((name) => [name, versions.get(`node_modules/${name}`) ?? '']);
    writeFileSync(path.join(tree, 'package.json'), packageJson(app, Object.fromEntries(direct)));
    const packageBytes = bytesIn(path.join(tree, 'node_modules'));
    const fileBytes = bytesIn(tree) - programBytes - packageBytes;
    rmSync(folder, { recursive: true, force: true });
    renameSync(tree, folder);
    return { folder, programBytes, fileBytes, packageBytes, packageCount: packages.length };
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}
