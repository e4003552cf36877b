import type { ByteRangeServed, MediaRangeServed } from '@longwave/events';

/** A record of written bytes, of an MP3 or of a track of HLS, in the one form in which both are judged, merged and counted. */
export interface ServedBytes extends Omit<ByteRangeServed, 'kind'> {
  /** SHA-256 (hex) of the track of HLS, whose cells say what plays when; absent for an MP3, whose parts do. */
  readonly track?: string;
  readonly play_id?: string;
  /** Keyed hash of the address, comparable within the play; absent when the play was opened 24 h ago or earlier. */
  readonly play_address_key?: string;
}

/** A fact in that form. A track is one part of the presentation, which is the arrangement: content, or an ad. */
export function servedBytesOf(fact: ByteRangeServed | MediaRangeServed): ServedBytes {
  if (fact.kind === 'byte_range_served') return fact;
  const { kind: _, presentation, play_address_key = fact.address_key, ad, ...served } = fact;
  const whole = { from: 0, to: fact.total_bytes, duration_ms: 0 };
  return {
    ...served,
    arrangement_id: presentation,
    parts: [ad ? { kind: 'ad', ...whole, ad } : { kind: 'content', ...whole }],
    ...(!fact.late && { play_address_key }),
  };
}
