import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { chainStart, receiptHash } from '../receipts/chain.ts';
import { headTree, type ChainHead, type CheckpointProof, type ExportedReceipt } from '../receipts/verify-chain.ts';
import type { MerkleTree } from '../receipts/merkle.ts';
import type { SignCheckpoint } from './receipt.ts';

/** Any constant. One process makes the next checkpoint; others wait and find it made. */
const checkpointLock = 7_241_564;

/** Saves the leaves of the newest checkpoint instead of those before. */
async function replaceHeads(tx: Transaction, heads: readonly ChainHead[]): Promise<void> {
  await tx.query('delete from checkpoint_head');
  await tx.query(
    `insert into checkpoint_head (leaf_index, workspace_id, seq, head)
     select h.place - 1, h.workspace_id, h.seq, h.head
     from unnest($1::text[], $2::int[], $3::text[]) with ordinality as h(workspace_id, seq, head, place)`,
    [heads.map((head) => head.workspace_id), heads.map(({ seq }) => seq), heads.map(({ head }) => head)],
  );
}

/**
 * Signs a checkpoint over the heads of all chains, unless the newest one is younger than an interval. Answers whether it did.
 * @param origin names the log: the root of the API's addresses
 */
export async function makeCheckpoint(options: {
  readonly pool: Pool;
  readonly sign: SignCheckpoint;
  readonly origin: string;
  readonly everyMs: number;
  readonly now: Date;
}): Promise<boolean> {
  const { pool, sign, origin, everyMs, now } = options;
  return await transaction(pool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1, hashtext(current_schema()))', [checkpointLock]);
    const { rows: newest } = await tx.query<Columns<'checkpoint', 'number' | 'issued_at' | 'jws'>>(
      'select number, issued_at, jws from checkpoint order by number desc limit 1',
    );
    const last = newest[0];
    if (last && now.getTime() - last.issued_at.getTime() < everyMs) return false;
    // One statement sees the heads of one moment.
    const { rows: heads } = await tx.query<Columns<'receipt_chain', 'workspace_id' | 'seq' | 'head'>>(
      'select workspace_id, seq, head from receipt_chain where seq > 0 order by workspace_id collate "C"',
    );
    const number = (last?.number ?? 0) + 1;
    const root = (await headTree(heads)).root.toString('hex');
    const prev = last ? receiptHash(last.jws) : chainStart;
    const jws = await sign({ origin, number, size: heads.length, root, prev, issued_at: now.toISOString() });
    await tx.query('insert into checkpoint (number, size, root, issued_at, jws) values ($1, $2, $3, $4, $5)', [
      number,
      heads.length,
      root,
      now,
      jws,
    ]);
    await replaceHeads(tx, heads);
    return true;
  });
}

/** Reads of receipts and checkpoints as a log that anyone can verify. */
export interface ReceiptLog {
  /** The newest checkpoint's JWS; undefined before the first. */
  newestCheckpoint(): Promise<string | undefined>;
  /** The newest checkpoint with the proof of a workspace's chain; undefined when the chain began after it. */
  proveChain(workspaceId: string): Promise<CheckpointProof | undefined>;
  /** Receipts of a workspace's chain after a place, the next one first. */
  exportChain(workspaceId: string, afterSeq: number, limit: number): Promise<readonly ExportedReceipt[]>;
}

/** A checkpoint with the tree over its leaves. */
interface NewestTree {
  /** Undefined before the first. */
  readonly jws: string | undefined;
  readonly heads: readonly ChainHead[];
  /** Place of each workspace. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly tree: MerkleTree;
}

export function createReceiptLog(pool: Pool): ReceiptLog {
  /** The newest checkpoint whose leaves were read, with its tree: a proof is a look-up in it. */
  let newest: Promise<NewestTree> | undefined;
  let newestJws: string | undefined;

  async function newestCheckpoint(): Promise<string | undefined> {
    const { rows } = await pool.query<Columns<'checkpoint', 'jws'>>({
      name: 'newest_checkpoint',
      text: 'select jws from checkpoint order by number desc limit 1',
    });
    return rows[0]?.jws;
  }

  async function readTree(): Promise<NewestTree> {
    const { rows } = await pool.query<ChainHead & { readonly jws: string }>({
      name: 'checkpoint_heads',
      text: `select n.jws, h.workspace_id, h.seq, h.head from checkpoint_head h
             cross join (select jws from checkpoint order by number desc limit 1) n order by h.leaf_index`,
    });
    const indexes = new Map(rows.map(({ workspace_id: id }, index) => [id, index]));
    return { jws: rows[0]?.jws, heads: rows, indexes, tree: await headTree(rows) };
  }

  /** Requests that come while it is made share it. */
  async function newestTree(): Promise<NewestTree> {
    const jws = await newestCheckpoint();
    if (!newest || newestJws !== jws) {
      newestJws = jws;
      newest = readTree();
      newest.catch(() => (newest = undefined));
    }
    return newest;
  }

  return {
    newestCheckpoint,

    async proveChain(workspaceId) {
      const { jws, heads, indexes, tree } = await newestTree();
      const index = indexes.get(workspaceId);
      if (jws === undefined || index === undefined) return undefined;
      const { seq, head } = heads[index]!;
      const proof = tree.prove(index).map((hash) => hash.toString('hex'));
      return { checkpoint: jws, workspace_id: workspaceId, seq, head, leaf_index: index, proof };
    },

    async exportChain(workspaceId, afterSeq, limit) {
      const { rows } = await pool.query<ExportedReceipt>({
        name: 'export_chain',
        text: 'select seq, id, jws from receipt where workspace_id = $1 and seq > $2 order by seq limit $3',
        values: [workspaceId, afterSeq, limit],
      });
      return rows;
    },
  };
}
