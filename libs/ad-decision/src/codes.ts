/**
 * Why a line item did or did not serve: exactly one verdict per candidate, the first check that fails
 * (docs/services/internal-serving.md#how-a-break-is-filled). Some codes are not issued yet; readers of traces must know all of them.
 */
export const verdictCodes = [
  /** Outside its window, or it, its campaign, advertiser or assignment is no longer in a state that serves. */
  'not_active',
  'halted',
  'creative_unapproved',
  'targeting_podcast',
  'targeting_episode',
  'targeting_country',
  'targeting_region',
  'targeting_language',
  'targeting_device',
  'targeting_operating_system',
  'targeting_app',
  'targeting_surface',
  'targeting_content_category',
  'targeting_explicit',
  'targeting_episode_age',
  'targeting_daypart',
  /** Its price is below the podcast's floor. */
  'below_floor',
  /** A policy keeps its advertiser, its category or all its creatives out, or all advertising out of this episode. */
  'policy_brand_safety',
  /** A policy keeps out line items that target as this one does. */
  'policy_privacy',
  'targeting_position',
  'surface_unsupported',
  /** None of its creatives has every rendition that the surfaces of the show need. */
  'no_rendition',
  /** None of its creatives may serve at this time. */
  'creative_out_of_window',
  'no_lease',
  'capped',
  /** It has served to the listener as often as a policy allows. */
  'policy_frequency',
  'separated_advertiser',
  'separated_group',
  'separated_category',
  /** A policy demands more distance from another ad of the play. */
  'policy_separation',
  /** It has had its share of the breaks of the last window. */
  'paced_out',
  'duration_too_long',
  /** The play takes no more seconds of ads. */
  'ad_load',
  /** A policy allows no more ads, or seconds of them, in this break or play. */
  'policy_ad_load',
  /** No slot of the break takes its type, production or length. */
  'slot_rule',
  /** The only slots that take it are filled. */
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
  /** No line item is active. */
  'no_active_line_item',
  /** Active line items exist; all of them are halted. */
  'halted',
  /** Line items may serve now; none targets this play and break. */
  'no_matching_line_item',
  /** Matching line items exist; none has a creative with every rendition that the surfaces of the show need. */
  'no_rendition',
  /** The remaining candidates are too long, fit no slot or are too close to a competitor. */
  'no_fit',
  /** The remaining candidates have no goal left, or their goals cannot be counted now. */
  'no_lease',
  /** The remaining candidates have reached their frequency caps, or no frequency record is available. */
  'capped',
  /** The remaining candidates have had their share. */
  'paced_out',
  /** Every candidate was placed and a slot is left. */
  'no_more_line_items',
] as const;

export type NoAdReason = (typeof noAdReasons)[number];
