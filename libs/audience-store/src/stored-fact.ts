import { byteRangeServedSchema, type ByteRangeServed, type CountedPart, type MediaRangeServed } from '@longwave/events';
import type { Columns, Rows } from './generated/rows.ts';
import { parseMultirange } from './multirange.ts';

const partsSchema = byteRangeServedSchema.shape.parts;

/** Parts as stored; those stored before ads had a price lack `billable`. */
export type StoredParts = readonly (Omit<CountedPart, 'ad'> & { readonly ad?: Partial<CountedPart['ad']> })[];

/** The parts of a fact, with fields in the order of its schema; ads from before they had a price are not billed. */
export const partsOf = (stored: StoredParts): CountedPart[] =>
  partsSchema.parse(stored.map((part) => (part.ad ? { ...part, ad: { billable: false, ...part.ad } } : part)));

/** A row of `factColumns`. */
export type FactRow = Omit<Rows['fact'], 'layout_digest' | 'judgement' | 'judged_by' | 'address_verdict' | 'method'> &
  Columns<'layout', 'arrangement_id' | 'total_bytes' | 'parts' | 'track', { parts: ByteRangeServed['parts'] }> &
  Pick<ByteRangeServed, 'address_verdict' | 'method'>;

/** The columns that `factOf` needs; `f` is the fact, `l` its layout. */
export const factColumns = `f.fact_id, f.request_id, f.started_at, f.at, f.workspace_id, f.podcast_id, f.episode_id,
  l.arrangement_id, f.method, f.status, f.requested, f.written, l.total_bytes, l.parts, f.published_at, f.listener_key,
  f.previous_listener_key, f.address_key, f.address_verdict, f.user_agent_digest, f.prefetch, f.country, f.region,
  f.late, f.lists_version, f.preload, f.internal, f.address_safe, f.web_player, f.play_id, f.play_address_key, l.track`;

/** The fact of a row as it was reported, with sorted and merged intervals. */
export function factOf(row: FactRow): ByteRangeServed | MediaRangeServed {
  const { previous_listener_key, address_safe, web_player, play_id, play_address_key, track, ...fields } = row;
  const { arrangement_id, parts, ...rest } = fields;
  const served = {
    ...rest,
    started_at: row.started_at.toISOString(),
    at: row.at.toISOString(),
    published_at: row.published_at.toISOString(),
    requested: parseMultirange(row.requested),
    written: parseMultirange(row.written),
    total_bytes: Number(row.total_bytes),
    ...(previous_listener_key !== null && { previous_listener_key }),
    ...(address_safe && { address_safe }),
    ...(web_player !== null && { web_player }),
  };
  if (track === null || play_id === null) return { ...served, kind: 'byte_range_served', arrangement_id, parts };
  const ad = parts[0]?.ad;
  return {
    ...served,
    kind: 'media_range_served',
    track,
    presentation: arrangement_id,
    play_id,
    ...(play_address_key !== null && { play_address_key }),
    ...(ad && { ad }),
  };
}
