import type { Pool } from '@longwave/postgres';
import type { LineDemand } from './line-demand.ts';
import type { ModeRow, NodeMode } from './node-mode.ts';

/** Registers a process that counts no goals yet; answers its epoch. */
export async function registerNode(pool: Pool, name: string, version: string): Promise<number> {
  const { rows } = await pool.query<{ node_epoch: number }>(
    `insert into serving_node (name, version, mode) values ($1, $2, 'none') returning node_epoch::float8`,
    [name, version],
  );
  return rows[0]!.node_epoch;
}

export interface NodeReport {
  readonly nodeEpoch: number;
  /** What it counts by. */
  readonly mode: NodeMode;
  readonly demand: Readonly<Record<string, LineDemand>>;
}

/** Reports that a node lives; answers the mode to follow, or undefined when the node was closed, as it had been silent for too long. */
export async function reportNode(pool: Pool, { nodeEpoch, mode, demand }: NodeReport): Promise<ModeRow | undefined> {
  const { rows } = await pool.query<ModeRow>({
    name: 'report-node',
    text: `with mine as (update serving_node set seen_at = now(), mode = $2, demand = $3
                         where node_epoch = $1 and closed_at is null returning node_epoch)
           select serving_mode.mode, wanted from serving_mode, mine`,
    values: [nodeEpoch, mode, JSON.stringify(demand)],
  });
  return rows[0];
}

/** Reports that a node has ended: it was seen for the last time long ago, so the pacer closes its leases in its next tick. */
export async function reportEnd(pool: Pool, nodeEpoch: number): Promise<void> {
  await pool.query(`update serving_node set seen_at = to_timestamp(0), mode = 'none' where node_epoch = $1`, [
    nodeEpoch,
  ]);
}

/** Removes nodes that were closed before a time, at most so many; answers how many. */
export async function removeClosedNodes(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from serving_node where node_epoch in (
       select node_epoch from serving_node n where closed_at < $1
         and not exists (select from quota_lease l where l.node_epoch = n.node_epoch) limit $2)`,
    [before, maxRows],
  );
  return rowCount ?? 0;
}
