import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isIncluded, leafHash, merkleTree } from './merkle.ts';

/** The entries of the known trees of the Certificate Transparency reference implementation. */
const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const leaves = entries.map((hex) => leafHash(Buffer.from(hex, 'hex')));

test.each([
  [0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  [1, '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  [2, 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  [3, 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  [8, '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
])('a tree of %i known leaves has the root of the reference implementation', (size, root) => {
  expect(merkleTree(leaves.slice(0, size)).root.toString('hex')).toBe(root);
});

const trees = fc
  .array(fc.uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 40 })
  .chain((all) => fc.record({ all: fc.constant(all), index: fc.nat({ max: all.length - 1 }) }));

test('every leaf of every tree is proved, by at most one hash for each level', () => {
  fc.assert(
    fc.property(trees, ({ all, index }) => {
      const hashes = all.map(leafHash);
      const { root, prove } = merkleTree(hashes);
      const proof = prove(index);
      expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(all.length)));
      expect(isIncluded(hashes[index]!, { index, size: all.length }, proof, root)).toBe(true);
    }),
  );
});

test('another leaf, place, size, path or root is refused', () => {
  fc.assert(
    fc.property(trees, fc.nat(), ({ all, index }, at) => {
      const hashes = all.map(leafHash);
      const size = all.length;
      const { root, prove } = merkleTree(hashes);
      const proof = prove(index);
      const other = createHash('sha256').update('other').digest();
      const changed = proof.map((hash, i) => (i === at % Math.max(1, proof.length) ? other : hash));
      expect(isIncluded(other, { index, size }, proof, root)).toBe(false);
      expect(isIncluded(hashes[index]!, { index, size }, proof, other)).toBe(false);
      expect(isIncluded(hashes[index]!, { index: size, size }, proof, root)).toBe(false);
      expect(isIncluded(hashes[index]!, { index, size }, [...proof, other], root)).toBe(false);
      if (proof.length === 0) return;
      expect(isIncluded(hashes[index]!, { index, size }, changed, root)).toBe(false);
      expect(isIncluded(hashes[index]!, { index, size }, proof.slice(1), root)).toBe(false);
    }),
  );
});
