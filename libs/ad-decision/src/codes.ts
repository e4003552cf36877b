/**
 * Why a line item did or did not serve: exactly one verdict per candidate (design: commands.md §6).
 * Codes no stage issues yet belong to the wire contract already; readers of traces must know all of them.
 */
export const verdictCodes = [
  'not_active',
  'halted',
  'targeting_position',
  'targeting_podcast',
  'targeting_episode',
  'targeting_country',
  'surface_unsupported',
  'duration_too_long',
  'creative_unapproved',
  'no_rendition',
  'paced_out',
  'no_lease',
  'capped',
  'separated_advertiser',
  'separated_category',
  'ad_load',
  'position_taken',
  'outranked',
  'won',
] as const;

export type VerdictCode = (typeof verdictCodes)[number];

/** Why a slot stayed empty: the reason of the first break, in request order, that could have held one more ad. */
export const noAdReasons = [
  /** Nothing is published for the workspace. */
  'no_plan',
  /** The request names no break. */
  'no_breaks',
  /** No line item's window is open. */
  'no_active_line_item',
  /** Open line items exist; none targets this break, podcast, episode and country. */
  'no_matching_line_item',
  /** Matching line items exist; none has a creative in the stream format. */
  'no_rendition',
  /** What could still serve has no goal left, or its goal cannot be counted now. */
  'no_lease',
  /** What could still serve is too long or too close to the same advertiser. */
  'no_fit',
  /** Every candidate was placed and room is left. */
  'no_more_line_items',
] as const;

export type NoAdReason = (typeof noAdReasons)[number];
