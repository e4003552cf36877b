import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Installation } from './_fleet.ts';

const root = path.resolve(import.meta.dirname, '..');
const run = promisify(execFile);

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
  const text = readFileSync(path.join(root, document), 'utf8');
  const blocks = [...text.matchAll(/^```sh tour\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
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
