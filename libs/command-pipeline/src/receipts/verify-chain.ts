import { setImmediate as yieldToOthers } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import type { JWK } from 'jose';
import { z } from 'zod';
import { chainStart, receiptHash } from './chain.ts';
import { isIncluded, leafHash, merkleTree, type MerkleTree } from './merkle.ts';
import { createStatementReader } from './signed-statement.ts';

/** One line of an exported chain. */
export interface ExportedReceipt {
  readonly seq: number;
  readonly id: string;
  readonly jws: string;
}

/** A receipt as a line of an exported chain, with its end: the only form that `verifyChain` accepts. */
export const exportLine = ({ seq, id, jws }: ExportedReceipt): string => `${JSON.stringify({ seq, id, jws })}\n`;

/** The newest receipt of a workspace's chain: one leaf of a checkpoint. */
export interface ChainHead {
  readonly workspace_id: string;
  readonly seq: number;
  /** SHA-256 (hex) of the receipt's JWS. */
  readonly head: string;
}

/** The hash of a chain's head as a leaf of the tree: RFC 6962 over JCS (RFC 8785). */
const headLeaf = ({ workspace_id, seq, head }: ChainHead): Buffer =>
  leafHash(Buffer.from(canonicalize({ workspace_id, seq, head })!));

/** Leaves that are hashed before other work of the process has its turn; some milliseconds. */
const batchSize = 500;

/** The tree over heads in the order of their workspaces' ids. */
export async function headTree(heads: readonly ChainHead[]): Promise<MerkleTree> {
  const leaves: Buffer[] = [];
  for (const head of heads) {
    leaves.push(headLeaf(head));
    if (leaves.length % batchSize === 0) await yieldToOthers();
  }
  return merkleTree(leaves);
}

const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);
/** A workspace's head with the proof that a signed checkpoint contains it. */
export const checkpointProofSchema = z.strictObject({
  checkpoint: z.string().describe('The signed checkpoint: a compact JWS (Ed25519) of type `checkpoint+jwt`.'),
  workspace_id: z.string(),
  seq: z.int().min(1).describe('Place of the newest receipt that the checkpoint contains.'),
  head: sha256Hex.describe('SHA-256 of that receipt’s JWS.'),
  leaf_index: z.int().min(0).describe('Place of the workspace among all, sorted by their ids.'),
  proof: sha256Hex.array().describe('Audit path of RFC 6962, the lowest hash first.'),
});
export type CheckpointProof = z.output<typeof checkpointProofSchema>;

/** What a checkpoint states. */
export const checkpointStatementSchema = z.strictObject({
  origin: z.string().describe('The log: the root of the API’s addresses.'),
  number: z.int().min(1).describe('1 for the first checkpoint of the log.'),
  size: z.int().min(0).describe('Number of leaves: workspaces that have receipts.'),
  root: sha256Hex.describe('Merkle Tree Hash of RFC 6962 over the heads of all chains, sorted by workspace id.'),
  prev: sha256Hex.describe('SHA-256 of the checkpoint before; zeros for the first.'),
  issued_at: z.iso.datetime(),
});
export type CheckpointStatement = z.output<typeof checkpointStatementSchema>;

/** What was verified, or the first thing that is wrong. */
export type Verification =
  | { readonly ok: true; readonly workspaceId: string; readonly receipts: number; readonly head: string }
  | {
      readonly ok: false;
      /** Place of the first broken link; null when it is the checkpoint that is wrong. */
      readonly seq: number | null;
      /** A sentence without its end: "receipt 7: its signature is not valid". */
      readonly problem: string;
    };

const broken = (seq: number | null, problem: string): Verification => ({ ok: false, seq, problem });

interface Link {
  readonly workspaceId: string;
  readonly head: string;
}

/** Checks one line against the receipt before it. Throws with what is wrong. */
async function verifyLine(
  line: string,
  seq: number,
  before: Link | undefined,
  readReceipt: Awaited<ReturnType<typeof createStatementReader>>,
): Promise<Link> {
  const { jws } = z.object({ jws: z.string() }).parse(JSON.parse(line));
  const statement = z
    .object({ id: z.string(), workspace_id: z.string(), chain: z.object({ seq: z.int(), prev: z.string() }) })
    .parse(await readReceipt(jws));
  if (statement.chain.seq !== seq) throw new Error(`it states place ${statement.chain.seq}`);
  if (exportLine({ seq, id: statement.id, jws }) !== `${line}\n`) throw new Error('the line differs from its receipt');
  if (statement.chain.prev !== (before?.head ?? chainStart)) throw new Error('it does not continue the receipt before');
  if (before && before.workspaceId !== statement.workspace_id) throw new Error('it is of another workspace');
  return { workspaceId: statement.workspace_id, head: receiptHash(jws) };
}

const sentenceOf = (error: unknown) =>
  error instanceof z.ZodError || error instanceof SyntaxError
    ? 'it is no line of an exported chain'
    : (error as Error).message;

/** Checks a checkpoint's signature and the proof of a workspace's head. Throws with what is wrong. */
async function verifyCheckpoint(document: unknown, keys: readonly JWK[]): Promise<ChainHead> {
  const parsed = checkpointProofSchema.safeParse(document);
  if (!parsed.success) throw new Error('it has not the form of a checkpoint');
  const { checkpoint, workspace_id, seq, head, leaf_index: index, proof } = parsed.data;
  const read = await createStatementReader(keys, 'checkpoint+jwt');
  const { size, root } = checkpointStatementSchema.parse(await read(checkpoint));
  const path = proof.map((hash) => Buffer.from(hash, 'hex'));
  if (!isIncluded(headLeaf({ workspace_id, seq, head }), { index, size }, path, Buffer.from(root, 'hex')))
    throw new Error('its proof does not lead to the signed root');
  return { workspace_id, seq, head };
}

/**
 * Verifies a workspace's exported chain from its first receipt, without any service. With a checkpoint it also finds that receipts are
 * missing at the end, up to those that the checkpoint contains; without one nobody can.
 * @param text the export: one line for each receipt; empty lines, as programs add them between or after pages, state nothing
 * @param checkpoint the document of the workspace's checkpoint, parsed
 */
export async function verifyChain(text: string, keys: readonly JWK[], checkpoint?: unknown): Promise<Verification> {
  const readReceipt = await createStatementReader(keys, 'receipt+jwt');
  let signed: ChainHead | undefined;
  if (checkpoint !== undefined)
    try {
      signed = await verifyCheckpoint(checkpoint, keys);
    } catch (error) {
      return broken(null, `checkpoint: ${sentenceOf(error)}`);
    }
  const split = text.split('\n');
  const end = split.pop();
  const lines = split.filter((line) => line !== '');
  if (lines.length === 0) return broken(1, 'receipt 1: it is missing');
  let last: Link | undefined;
  for (const [index, line] of lines.entries()) {
    const seq = index + 1;
    try {
      last = await verifyLine(line, seq, last, readReceipt);
    } catch (error) {
      return broken(seq, `receipt ${seq}: ${sentenceOf(error)}`);
    }
    if (signed?.workspace_id !== undefined && signed.workspace_id !== last.workspaceId)
      return broken(null, 'checkpoint: it is of another workspace');
    if (signed?.seq === seq && signed.head !== last.head)
      return broken(seq, `receipt ${seq}: it is not the one that the checkpoint contains`);
  }
  if (end !== '') return broken(lines.length + 1, `receipt ${lines.length + 1}: its line does not end`);
  if (signed && signed.seq > lines.length)
    return broken(
      lines.length + 1,
      `receipt ${lines.length + 1}: it is missing; the checkpoint contains ${signed.seq} receipts`,
    );
  return { ok: true, workspaceId: last!.workspaceId, receipts: lines.length, head: last!.head };
}
