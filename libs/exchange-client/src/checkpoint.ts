import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JWK } from 'jose';
import { z } from 'zod';
import { checkpointProof } from './answers.ts';
import { readStatement } from './signed-statement.ts';

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
};
const leafHash = (entry: Uint8Array): Buffer => sha256(Buffer.of(0), entry);
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right);

/** The root to which an audit path leads from a leaf (RFC 9162 §2.1.3.2); undefined for a path of another length. */
function rootOf(leaf: Buffer, { index, size }: { index: number; size: number }, path: readonly Buffer[]) {
  let [at, last, root] = [index, size - 1, leaf];
  if (at > last) return undefined;
  for (const sibling of path) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      root = nodeHash(sibling, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    } else root = nodeHash(root, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : undefined;
}

const statementSchema = z.object({ size: z.int().min(0), root: z.string(), issued_at: z.string() });

/** The newest receipt of a workspace that a checkpoint contains. */
export interface CheckpointHead {
  readonly workspaceId: string;
  readonly seq: number;
  /** SHA-256 (hex) of the receipt. */
  readonly head: string;
  readonly issuedAt: string;
}

/** Checks the signature of a checkpoint and its proof for a workspace. Throws the sentence that says what is wrong with it. */
export async function readCheckpoint(document: unknown, keys: readonly JWK[]): Promise<CheckpointHead> {
  const parsed = checkpointProof.safeParse(document);
  if (!parsed.success) throw new Error('it has not the form of a checkpoint');
  const { checkpoint, workspace_id, seq, head, leaf_index: index, proof } = parsed.data;
  const statement = statementSchema.safeParse(await readStatement(checkpoint, keys, 'checkpoint+jwt'));
  if (!statement.success) throw new Error('it does not state what a checkpoint states');
  const { size, root, issued_at: issuedAt } = statement.data;
  const leaf = leafHash(Buffer.from(canonicalize({ workspace_id, seq, head })!));
  const path = proof.map((each) => Buffer.from(each, 'hex'));
  if (rootOf(leaf, { index, size }, path)?.toString('hex') !== root)
    throw new Error('its proof does not lead to the signed root');
  return { workspaceId: workspace_id, seq, head, issuedAt };
}
