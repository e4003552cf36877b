import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const names = z.record(z.string(), z.string()).default({});

/** What is read of an entry of package-lock.json (lockfileVersion 3); it has further members. */
const lockedSchema = z.object({
  version: z.string().optional(),
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).default({}),
});
const lockSchema = z.object({ packages: z.record(z.string(), z.unknown()) });

/** An npm package as it is installed. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** Relative to the folder of package-lock.json: `node_modules/a/node_modules/b`. */
  readonly place: string;
}

/** Where Node looks for a package that a module in `from` names: beside it first, then further out. */
function placesOf(name: string, from: string): string[] {
  const parents = from
    .split('/node_modules/')
    .map((_, index, parts) => parts.slice(0, index + 1).join('/node_modules/'));
  return [...parents.map((parent) => `${parent}/node_modules/${name}`).reverse(), `node_modules/${name}`];
}

function assertInstalled(root: string, place: string, version: string): void {
  const file = path.join(root, place, 'package.json');
  const installed = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version
    : undefined;
  if (installed !== version)
    throw new Error(
      `${place} is ${installed ?? 'missing'}, and package-lock.json says ${version}. Run npm ci, then this again.`,
    );
}

/**
 * The packages that a program needs beside itself: those that it names and, at the versions of the lock file, everything that they
 * depend on. Optional ones are left out where they are not installed, for example for another processor.
 * Throws when one is missing or is installed in another version.
 * @param root folder of package-lock.json and node_modules
 */
export function lockedPackages(root: string, named: readonly string[]): readonly LockedPackage[] {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')));
  const found = new Map<string, LockedPackage>();
  const take = (name: string, from: string, isOptional: boolean): void => {
    const place = placesOf(name, from).find((each) => each in packages);
    if (!place) {
      if (isOptional) return;
      throw new Error(`${from || 'The program'} needs the package ${name}, which is not in package-lock.json.`);
    }
    if (found.has(place) || (isOptional && !existsSync(path.join(root, place)))) return;
    const entry = lockedSchema.parse(packages[place]);
    const { version = '', dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = entry;
    assertInstalled(root, place, version);
    found.set(place, { name, version, place });
    for (const each of Object.keys(dependencies)) take(each, place, each in optionalDependencies);
    for (const each of Object.keys(optionalDependencies)) take(each, place, true);
    for (const each of Object.keys(peerDependencies))
      if (!peerDependenciesMeta[each]?.optional) take(each, place, false);
  };
  for (const name of named) take(name, '', false);
  return [...found.values()].sort((a, b) => (a.place < b.place ? -1 : 1));
}
