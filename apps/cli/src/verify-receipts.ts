/** `longwave receipts verify`: checks an exported chain of receipts without the service. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { verifyChain } from '@longwave/command-pipeline/receipts';
import type { JWK } from 'jose';
import { typed, UsageError } from './command.ts';

const usage = `${typed} receipts verify FILE --keys URL|FILE [--checkpoint FILE]

Checks every receipt of an exported chain: its signature, its place and its link to the receipt before. Names the first broken link.

  FILE               the export: what GET {api_url}/management/v1/workspaces/{id}/receipts answers, page after page
  --keys URL|FILE    the public keys (JWKS): {api_url}/management/v1/keys, or a file with them
  --checkpoint FILE  optional: what GET …/workspaces/{id}/checkpoint answered; finds that receipts are missing at the end, too
  --data FOLDER      optional: without effect, because the chain is checked without the service

Exit code: 0 when the chain is whole, 1 when it is broken, 64 when the command line is wrong.

Example:
  ${typed} receipts verify chain.jsonl --keys keys.json --checkpoint checkpoint.json`;

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        keys: { type: 'string' },
        checkpoint: { type: 'string' },
        data: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\nusage: ${usage}`);
  }
}

/** The public keys at an address or in a file. */
async function readKeys(source: string): Promise<readonly JWK[]> {
  const isAddress = /^https?:/.test(source);
  const text = isAddress ? await (await fetch(source)).text() : readFileSync(source, 'utf8');
  const { keys } = JSON.parse(text) as { readonly keys?: readonly JWK[] };
  if (!Array.isArray(keys)) throw new Error(`${source} has no JWKS: {"keys": […]}.`);
  return keys as readonly JWK[];
}

async function verify(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) return console.log(usage);
  const [verb, file, ...rest] = positionals;
  if (verb !== 'verify' || file === undefined || rest.length > 0) throw new UsageError(`usage: ${usage}`);
  if (!values.keys) throw new UsageError(`--keys is missing.\n\nusage: ${usage}`);
  const checkpoint: unknown = values.checkpoint && JSON.parse(readFileSync(values.checkpoint, 'utf8'));
  const found = await verifyChain(readFileSync(file, 'utf8'), await readKeys(values.keys), checkpoint);
  console.log(
    JSON.stringify(
      found.ok
        ? { whole: true, workspace_id: found.workspaceId, receipts: found.receipts, head: found.head }
        : { whole: false, seq: found.seq, problem: found.problem },
      null,
      2,
    ),
  );
  if (!found.ok) process.exitCode = 1;
}

await verify().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = error instanceof UsageError ? 64 : 1;
});
