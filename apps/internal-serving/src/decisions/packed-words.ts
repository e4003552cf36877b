/**
 * Words that packed values name by one byte, by their place in this list. Stored values are read by it for ever: nothing in it ever
 * changes, and at most 128 words are added behind the last one.
 */
export const packedWords: readonly string[] = [
  ...[
    '',
    'pre',
    'mid',
    'post',
    'present',
    'absent',
    'won',
    'eligibility',
    'goals',
    'frequency',
    'separation',
    'pacing',
  ],
  ...[
    'selection',
    'room',
    'shares',
    'heard',
    'progressive',
    'mp3/128000/48000/2',
    'mobile',
    'desktop',
    'tablet',
    'iOS',
  ],
  ...['Android', 'macOS', 'Windows', 'en', 'no_plan', 'no_breaks', 'no_active_line_item', 'halted', 'not_active'],
  ...['no_matching_line_item', 'no_rendition', 'no_fit', 'no_lease', 'capped', 'paced_out', 'no_more_line_items'],
  ...['creative_unapproved', 'targeting_podcast', 'targeting_episode', 'targeting_country', 'targeting_region'],
  ...['targeting_language', 'targeting_device', 'targeting_operating_system', 'targeting_app', 'targeting_surface'],
  ...['targeting_content_category', 'targeting_explicit', 'targeting_episode_age', 'targeting_daypart', 'below_floor'],
  ...['policy_brand_safety', 'policy_privacy', 'targeting_position', 'surface_unsupported', 'creative_out_of_window'],
  ...['policy_frequency', 'separated_advertiser', 'separated_group', 'separated_category', 'policy_separation'],
  ...['duration_too_long', 'ad_load', 'policy_ad_load', 'slot_rule', 'position_taken', 'outranked'],
  ...['slot', 'maxDurationMs', 'lineItemTypes', 'productions', 'id', 'version', 'kind', 'exclusive', 'sponsorship'],
  ...['guaranteed', 'non_guaranteed', 'house', 'host_read', 'producer_read', 'produced', 'brand_safety', 'privacy'],
];
