#!/usr/bin/env node
/**
 * What the packages of `package-lock.json` are: a bill of materials (`npm run sbom`), and the checks of `npm test` (`--check`). Both read
 * the lock file alone, so they need no network and no installed packages.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import satisfies from 'spdx-satisfies';

const root = path.resolve(import.meta.dirname, '..');

/** Licences (SPDX) that a package of production may have: they ask for a notice at most, and bind no work that only uses the package. */
const allowedLicences = [
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0'],
  ...['ISC', 'MIT', 'MIT-0', 'Python-2.0', 'Unlicense'],
];

/** Packages whose entry names no licence of the list, by name and version, each with the reason why it may be used. */
const exceptions = {
  '@fontsource-variable/inter@5.3.0':
    'OFL-1.1. The font of the console and the account pages: it is served as its authors made it, with its licence beside it.',
  'elkjs@0.11.1':
    'EPL-2.0. Comes with Prisma Studio, which lays out diagrams with it; no service loads it, and nobody changes it.',
  '@visx/vendor@4.0.0-alpha.0': 'Says "MIT and ISC", which is no SPDX expression; both are on the list.',
  'seq-queue@0.0.5': 'Names no licence in its package.json; its LICENSE file is MIT.',
};

/** Entries of the lock file that come from outside of the repository. */
function outsideEntries({ packages }) {
  return Object.entries(packages).flatMap(([place, entry]) => {
    const at = place.lastIndexOf('node_modules/');
    if (at < 0 || entry.link) return [];
    return [{ ...entry, place, name: entry.name ?? place.slice(at + 'node_modules/'.length) }];
  });
}

/** Whether an SPDX expression is satisfied by the list. False for what is no expression. */
function isAllowed(licence) {
  try {
    return satisfies(licence, allowedLicences);
  } catch {
    return false;
  }
}

/**
 * What is wrong with a lock file, one sentence each. An entry without `resolved` comes from the registry that npm is configured with;
 * `package-lock.json` is written so, because registries have mirrors and the hash decides.
 */
function findFaults(lock) {
  if (lock.lockfileVersion !== 3) return [`The lock file has version ${lock.lockfileVersion}; this check reads 3.`];
  const entries = outsideEntries(lock);
  const faults = entries.flatMap(({ place, integrity, resolved }) => [
    ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ? [] : [`${place} has no SHA-512.`]),
    ...(resolved === undefined
      ? []
      : [`${place} comes from ${resolved}; packages come from the registry that npm is configured with.`]),
  ]);
  const production = entries.filter(({ dev }) => !dev);
  const named = new Set(production.map(({ name, version }) => `${name}@${version}`));
  for (const { name, version, license } of production)
    if (!isAllowed(license ?? '') && !Object.hasOwn(exceptions, `${name}@${version}`))
      faults.push(
        `${name}@${version} has the licence ${license ?? '(none)'}, which is not on the list of tools/supply-chain.mjs.`,
      );
  for (const exception of Object.keys(exceptions))
    if (!named.has(exception)) faults.push(`The exception for ${exception} is no longer needed: remove it.`);
  return [...new Set(faults)];
}

/**
 * A bill of materials of the packages of production in CycloneDX, made by npm of the lock file. npm is asked for all packages: its
 * `--omit=dev` also leaves out those of production that development needs too.
 */
function billOfMaterials(folder, lock) {
  const text = execFileSync(
    'npm',
    ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'],
    {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const bill = JSON.parse(text);
  const omitted = new Set(bill.components.map((component) => component['bom-ref']));
  for (const { name, version } of outsideEntries(lock).filter(({ dev }) => !dev)) omitted.delete(`${name}@${version}`);
  for (const [place, { name, version }] of Object.entries(lock.packages))
    if (!place.includes('node_modules/')) omitted.delete(`${name}@${version}`);
  const isKept = (reference) => !omitted.has(reference);
  return {
    ...bill,
    components: bill.components.filter((component) => isKept(component['bom-ref'])),
    dependencies: bill.dependencies.flatMap(({ ref, dependsOn = [] }) =>
      isKept(ref) ? [{ ref, dependsOn: dependsOn.filter(isKept) }] : [],
    ),
  };
}

const { check, lock: file } = parseArgs({
  options: { check: { type: 'boolean', default: false }, lock: { type: 'string', default: 'package-lock.json' } },
}).values;
const lockFile = path.resolve(root, file);
const lock = JSON.parse(readFileSync(lockFile, 'utf8'));
if (check) {
  const faults = findFaults(lock);
  for (const fault of faults) console.error(fault);
  const entries = outsideEntries(lock);
  if (faults.length === 0)
    console.log(`${entries.length} packages with their hashes, ${entries.filter(({ dev }) => !dev).length} licences`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} else process.stdout.write(`${JSON.stringify(billOfMaterials(path.dirname(lockFile), lock), null, 2)}\n`);
