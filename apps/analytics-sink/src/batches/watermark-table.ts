import type { Columns } from '@longwave/audience-store';
import type { Pool, Transaction } from '@longwave/postgres';

/** How far a producer's batches have come. */
export interface Watermark {
  /** Every sequence from 1 to here was received; 0 when the first is missing. */
  readonly contiguous_sequence: number;
  /** The highest sequence received. */
  readonly highest_sequence: number;
  /** The end of the latest window among the contiguous batches. */
  readonly event_time: string | null;
}

/** A run of missing sequences below the highest one, both ends included. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

type WatermarkRow = Columns<'batch_watermark', 'event_time'> & {
  readonly contiguous: string;
  readonly highest: string;
};

const columns = `coalesce((select upper(r) - 1 from unnest(sequences) r where r @> 1::bigint), 0) as contiguous,
  coalesce(upper(sequences) - 1, 0) as highest, event_time`;

const watermarkOf = ({ contiguous, highest, event_time }: WatermarkRow): Watermark => ({
  contiguous_sequence: Number(contiguous),
  highest_sequence: Number(highest),
  event_time: event_time?.toISOString() ?? null,
});

/** Locks the producer's watermark until the transaction ends, so that its batches are accepted one by one; returns it. */
export async function lockWatermark(tx: Transaction, producer: string): Promise<Watermark> {
  await tx.query(`insert into batch_watermark (producer, sequences) values ($1, '{}') on conflict do nothing`, [
    producer,
  ]);
  const { rows } = await tx.query<WatermarkRow>(
    `select ${columns} from batch_watermark where producer = $1 for update`,
    [producer],
  );
  return watermarkOf(rows[0]!);
}

/** Adds a batch, which the same transaction stores later, to a locked watermark. */
export async function advanceWatermark(
  tx: Transaction,
  producer: string,
  before: Watermark,
  batch: { readonly sequence: number; readonly windowTo: string },
): Promise<Watermark> {
  const { rows } = await tx.query<WatermarkRow>(
    `update batch_watermark set sequences = sequences + int8multirange(int8range($2, $2, '[]')) where producer = $1
     returning ${columns}`,
    [producer, batch.sequence],
  );
  const advanced = watermarkOf(rows[0]!);
  if (advanced.contiguous_sequence === before.contiguous_sequence) return advanced;
  const { rows: latest } = await tx.query<Columns<'batch_watermark', 'event_time', { event_time: Date }>>(
    `update batch_watermark set event_time = greatest(event_time, $4::timestamptz(3),
       (select max(window_to) from batch where producer = $1 and sequence > $2 and sequence <= $3))
     where producer = $1 returning event_time`,
    [producer, before.contiguous_sequence, advanced.contiguous_sequence, batch.windowTo],
  );
  return { ...advanced, event_time: latest[0]!.event_time.toISOString() };
}

const maxGaps = 20;

/** The watermark of a producer, with its first missing sequences; zeros when nothing was received. */
export async function readWatermark(
  pool: Pool,
  producer: string,
): Promise<Watermark & { readonly gaps: readonly Gap[] }> {
  const { rows } = await pool.query<WatermarkRow & { readonly gaps: readonly Gap[] | null }>(
    `select ${columns},
       (select json_agg(json_build_object('from', lower(g), 'to', upper(g) - 1)) from
         (select g from unnest(int8multirange(int8range(1, upper(sequences))) - sequences) g limit $2) as missing) as gaps
     from batch_watermark where producer = $1`,
    [producer, maxGaps],
  );
  const row = rows[0];
  return row
    ? { ...watermarkOf(row), gaps: row.gaps ?? [] }
    : { contiguous_sequence: 0, highest_sequence: 0, event_time: null, gaps: [] };
}
