/** `longwave receipts verify`: checks an exported chain of receipts without the service. */
import { readFileSync } from 'node:fs';
import { verifyChain } from '@longwave/command-pipeline/receipts';
import type { JWK } from 'jose';
import { z } from 'zod';
import { typed, UsageError } from './command.ts';
import { parseOptions } from './parse-options.ts';

const usage = `${typed} receipts verify FILE --keys URL|FILE [--checkpoint FILE]

Checks every receipt of an exported chain: its signature, its place and its link to the receipt before. Names the first broken link.

  FILE               the export: what GET {api_url}/management/v1/workspaces/{id}/receipts answers, page after page, or
                     \`${typed} manage receipts\` prints; empty lines are ignored
  --keys URL|FILE    the public keys (JWKS): {api_url}/management/v1/keys, or a file with them
  --checkpoint FILE  optional: what GET …/workspaces/{id}/checkpoint answered; finds that receipts are missing at the end, too

Exit code: 0 when the chain is whole, 1 when it is broken, 2 when nothing was checked: the command line or an input is of no use.

Example:
  ${typed} receipts verify chain.jsonl --keys keys.json --checkpoint checkpoint.json`;

function readArguments() {
  try {
    return parseOptions({
      allowPositionals: true,
      options: {
        keys: { type: 'string' },
        checkpoint: { type: 'string' },
        data: { type: 'string' },
        // The result is JSON anyway.
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\nusage: ${usage}`);
  }
}

/** A problem document (RFC 9457): an answer that was saved although it was a refusal. */
const problemSchema = z.object({ status: z.number(), code: z.string(), detail: z.string() });

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of an input. Throws `UsageError` when it cannot be read, or is the refusal that somebody saved in place of it. */
async function readInput(source: string): Promise<string> {
  const isAddress = /^https?:/.test(source);
  let text;
  try {
    text = isAddress ? await (await fetch(source)).text() : readFileSync(source, 'utf8');
  } catch (error) {
    throw new UsageError(`${source} cannot be read: ${(error as Error).message}`);
  }
  const { data: problem } = problemSchema.safeParse(tryJson(text));
  if (problem)
    throw new UsageError(
      `${source} is the answer to a refused request: ${problem.detail} (${problem.code}) Ask again.`,
    );
  return text;
}

/** The public keys at an address or in a file. */
async function readKeys(source: string): Promise<readonly JWK[]> {
  const found = tryJson(await readInput(source)) as { readonly keys?: readonly JWK[] } | null | undefined;
  if (!Array.isArray(found?.keys)) throw new UsageError(`${source} has no JWKS: {"keys": […]}.`);
  return found.keys as readonly JWK[];
}

/** A checkpoint as it was answered. Its form, signature and proof are checked with the chain. */
async function readCheckpoint(source: string): Promise<unknown> {
  const found = tryJson(await readInput(source));
  if (found === undefined) throw new UsageError(`${source} has no checkpoint: it is not JSON.`);
  return found;
}

async function verify(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) return console.log(usage);
  const [verb, file, ...rest] = positionals;
  if (verb !== 'verify' || file === undefined || rest.length > 0) throw new UsageError(`usage: ${usage}`);
  if (!values.keys) throw new UsageError(`--keys is missing.\n\nusage: ${usage}`);
  const checkpoint = values.checkpoint && (await readCheckpoint(values.checkpoint));
  const found = await verifyChain(await readInput(file), await readKeys(values.keys), checkpoint || undefined);
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
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
