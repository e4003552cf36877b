/** `npm run server-secrets`: everything secret that deploy/server/compose.yaml mounts. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { workspaceRoot } from '@longwave/fleet';
import { writeServerSecrets } from './server-secrets.ts';

function readFolder(): string {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  // A relative folder is meant as it is typed: npm changes to the root of the repository.
  const typedIn = process.env['INIT_CWD'] ?? process.cwd();
  return values.out === undefined
    ? path.join(workspaceRoot, 'deploy/server/secrets')
    : path.resolve(typedIn, values.out);
}

let folder: string;
try {
  folder = readFolder();
} catch (error) {
  console.error(`${(error as Error).message}\nnpm run server-secrets -- --help explains the options.`);
  process.exit(2);
}
const { names, isReadable } = await writeServerSecrets(folder, new Date());
console.log(`${names.length} files in ${folder}`);
if (!isReadable)
  console.error('The containers read them as user 10001. Give them to that user: sudo npm run server-secrets');
