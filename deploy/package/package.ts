/** `npm run package`: what a container of a service holds, as a folder that starts with Node 24 alone. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { makeProductionTree, type ProductionTree } from './production-tree.ts';

const root = path.resolve(import.meta.dirname, '../..');
const names = namesOf(services);

/** The services to package and the absolute folder for their trees. Throws when a name is wrong. */
function readArguments(): { readonly apps: readonly ServiceName[]; readonly out: string } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' } },
  });
  const apps = positionals.map((given) => {
    const app = names.find((name) => name === given);
    if (!app) throw new Error(`There is no service “${given}”. The services are ${names.join(', ')}.`);
    return app;
  });
  // A relative folder is meant as it is typed: npm changes to the root of the repository.
  const typedIn = process.env['INIT_CWD'] ?? process.cwd();
  const out = values.out === undefined ? path.join(root, 'dist') : path.resolve(typedIn, values.out);
  return { apps: apps.length > 0 ? apps : names, out };
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function describe(app: ServiceName, tree: ProductionTree): string {
  const { programBytes, fileBytes, packageBytes, packageCount } = tree;
  const parts = `program ${megabytes(programBytes)}, files ${megabytes(fileBytes)}, ${packageCount} packages ${megabytes(packageBytes)}`;
  return `${app.padEnd(17)} ${megabytes(programBytes + fileBytes + packageBytes).padStart(8)}  ${parts}`;
}

async function main(): Promise<number> {
  let wanted: ReturnType<typeof readArguments>;
  try {
    wanted = readArguments();
  } catch (error) {
    console.error(`${(error as Error).message}\nnpm run package -- --help explains the options.`);
    return 2;
  }
  for (const app of wanted.apps) console.log(describe(app, await makeProductionTree(app, wanted.out)));
  console.log(`\nin ${wanted.out}; start one with: cd ${path.join(wanted.out, wanted.apps[0]!)} && npm start`);
  return 0;
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }),
);
