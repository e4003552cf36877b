import { columns, type JsonRows } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';
import type { RowOf } from './batch.ts';

export type Claim = RowOf<'download_qualified'> | RowOf<'ad_delivered'>;

const rowOf = (producer: string, row: Claim): JsonRows['platform_reported'] => ({
  producer,
  kind: row.kind,
  claim: row.claim,
  workspace_id: row.workspace,
  podcast_id: row.podcast,
  episode_id: row.episode,
  campaign_id: row.kind === 'ad_delivered' ? row.campaign : null,
  line_item_id: row.kind === 'ad_delivered' ? row.line_item : null,
  creative_id: row.kind === 'ad_delivered' ? (row.creative ?? null) : null,
  at: row.at,
  country: row.country,
  quantity: row.quantity,
});

const columnsOf = (row: 'p' | 'r') => columns.platform_reported.replace(/\w+/g, `${row}.$&`);

/**
 * Stores the claims of a producer, each once. Answers, in the order of the rows, whether the stored claim is the same: a later claim of the
 * same name changes nothing.
 */
export async function keepClaims(tx: Transaction, producer: string, rows: readonly Claim[]): Promise<boolean[]> {
  if (rows.length === 0) return [];
  const claims = JSON.stringify(rows.map((row, position) => ({ position, ...rowOf(producer, row) })));
  await tx.query(
    `insert into platform_reported (${columns.platform_reported})
     select distinct on (kind, claim) ${columns.platform_reported} from json_populate_recordset(null::platform_reported, $1)
     order by kind, claim on conflict do nothing`,
    [claims],
  );
  const { rows: kept } = await tx.query<{ same: boolean }>(
    `select (${columnsOf('p')}) is not distinct from (${columnsOf('r')}) as same
     from json_array_elements($1) with ordinality as sent (row, position)
     cross join lateral json_populate_record(null::platform_reported, sent.row) r
     join platform_reported p on (p.producer, p.kind, p.claim) = (r.producer, r.kind, r.claim) order by position`,
    [claims],
  );
  return kept.map(({ same }) => same);
}
