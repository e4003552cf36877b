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

/** A tree of hashes that is made once and proves each of its leaves. */
export interface MerkleTree {
  /** The Merkle Tree Hash (RFC 6962 §2.1); of no leaves, the hash of nothing. */
  readonly root: Buffer;
  /** The audit path of one leaf (RFC 6962 §2.1.1): the hashes that give the root together with the leaf's, the lowest first. */
  readonly prove: (index: number) => Buffer[];
}

/** The tree over the hashes of leaves, level by level: the last hash of an odd level goes up as it is. */
export function merkleTree(leaves: readonly Buffer[]): MerkleTree {
  const levels: (readonly Buffer[])[] = [leaves];
  for (let level = leaves; level.length > 1; level = levels.at(-1)!) {
    const above: Buffer[] = [];
    for (let at = 0; at < level.length; at += 2)
      above.push(at + 1 < level.length ? nodeHash(level[at]!, level[at + 1]!) : level[at]!);
    levels.push(above);
  }
  return {
    root: levels.at(-1)![0] ?? sha256(),
    prove(index) {
      let at = index;
      return levels.slice(0, -1).flatMap((level) => {
        const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
        at = Math.floor(at / 2);
        return sibling ? [sibling] : [];
      });
    },
  };
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
