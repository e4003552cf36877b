import { createHash } from 'node:crypto';

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);

/** The hash of a leaf (RFC 6962 §2.1). */
export const leafHash = (entry: Uint8Array): Buffer => sha256(leafPrefix, entry);

const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodePrefix, left, right);

/** The largest power of two below `size`, which is at least 2. */
const split = (size: number): number => 2 ** Math.floor(Math.log2(size - 1));

/** The Merkle Tree Hash of leaves (RFC 6962 §2.1), from their hashes; of none, the hash of nothing. */
export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0]!;
  const at = split(leaves.length);
  return nodeHash(merkleRoot(leaves.slice(0, at)), merkleRoot(leaves.slice(at)));
}

/** The audit path of one leaf (RFC 6962 §2.1.1): the hashes that give the root together with the leaf's, the lowest first. */
export function inclusionProof(leaves: readonly Buffer[], index: number): Buffer[] {
  if (leaves.length <= 1) return [];
  const at = split(leaves.length);
  const [left, right] = [leaves.slice(0, at), leaves.slice(at)];
  return index < at
    ? [...inclusionProof(left, index), merkleRoot(right)]
    : [...inclusionProof(right, index - at), merkleRoot(left)];
}

/** Whether an audit path leads from a leaf's hash to the root of a tree (RFC 9162 §2.1.3.2). */
export function isIncluded(
  leaf: Buffer,
  at: { readonly index: number; readonly size: number },
  proof: readonly Buffer[],
  root: Buffer,
): boolean {
  if (at.index < 0 || at.index >= at.size) return false;
  let { index } = at;
  let last = at.size - 1;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (index % 2 === 1 || index === last) {
      hash = nodeHash(sibling, hash);
      while (index % 2 === 0 && index !== 0) {
        index = Math.floor(index / 2);
        last = Math.floor(last / 2);
      }
    } else hash = nodeHash(hash, sibling);
    index = Math.floor(index / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && hash.equals(root);
}
