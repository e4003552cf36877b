import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Installation } from './_fleet.ts';

const root = path.resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** The blocks of shell commands of a document that have a name. */
function blocksOf(document: string, name: string): string[] {
  const text = readFileSync(path.join(root, document), 'utf8');
  return [...text.matchAll(/^```sh (\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, block]) =>
    found === name ? [block!] : [],
  );
}

/** The functions of one line that a document defines. */
const functionsOf = (document: string): string =>
  readFileSync(path.join(root, document), 'utf8')
    .split('\n')
    .filter((line) => /^\w+\(\) \{.*\}$/.test(line))
    .join('\n');

/** Runs one named block of a document as it is written, with the functions of the document, and answers what it prints. */
export async function runBlock(
  document: string,
  name: string,
  environment: Readonly<Record<string, string>>,
  cwd: string = root,
): Promise<string> {
  const [block, ...more] = blocksOf(document, name);
  if (block === undefined || more.length > 0) throw new Error(`${document} has not one block “${name}”`);
  const env = { PATH: process.env['PATH'], ...environment };
  const script = `${functionsOf(document)}\n${block}`;
  return (await run('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, maxBuffer: 16 * 1024 * 1024 })).stdout;
}

/**
 * Runs the commands of a document as they are written, and answers what they print.
 * @param options.cwd the folder in which they run; default: the installation's folder for files of tests
 * @param options.reply what a person types after the script has printed a line with this address
 */
export async function runTour(
  world: Installation,
  document: string,
  environment: Readonly<Record<string, string>>,
  {
    cwd = world.folder,
    reply,
  }: {
    readonly cwd?: string;
    readonly reply?: { readonly to: RegExp; readonly typed: (address: string) => Promise<string> };
  } = {},
): Promise<string> {
  const blocks = blocksOf(document, 'tour');
  if (blocks.length < 2) throw new Error(`${document} shows no commands of a tour`);
  const script = path.join(world.folder, `${path.basename(document, '.md')}.sh`);
  writeFileSync(script, blocks.join('\n'));
  const env = { PATH: process.env['PATH'], ...environment };
  const running = run('bash', ['-euo', 'pipefail', script], { cwd, env, maxBuffer: 16 * 1024 * 1024 });
  let printed = '';
  running.child.stdout!.on('data', (chunk: string) => {
    printed += chunk;
    const address = reply?.to.exec(printed)?.[0];
    if (!reply || address === undefined || running.child.stdin!.writableEnded) return;
    printed = '';
    void reply.typed(address).then((line) => running.child.stdin!.end(`${line}\n`));
  });
  return (await running).stdout;
}
