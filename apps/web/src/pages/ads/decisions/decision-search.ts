/** What reading decisions is for; each reading is recorded with one of these. */
export const purposes = ['campaign_troubleshooting', 'delivery_dispute', 'quality_assurance', 'audit'] as const;
export type Purpose = (typeof purposes)[number];

/** What can become of a candidate; a test compares them with those of the contract. */
export const verdictCodes = [
  ...['won', 'outranked', 'no_lease', 'capped', 'policy_frequency', 'paced_out', 'not_active', 'halted'],
  ...['targeting_podcast', 'targeting_episode', 'targeting_country', 'targeting_region', 'targeting_language'],
  ...['targeting_device', 'targeting_operating_system', 'targeting_app', 'targeting_surface'],
  ...['targeting_content_category', 'targeting_explicit', 'targeting_episode_age', 'targeting_daypart'],
  ...['targeting_position', 'position_taken', 'slot_rule', 'duration_too_long', 'ad_load', 'policy_ad_load'],
  ...['separated_advertiser', 'separated_group', 'separated_category', 'policy_separation', 'below_floor'],
  ...['policy_brand_safety', 'policy_privacy', 'creative_unapproved', 'creative_out_of_window', 'no_rendition'],
  'surface_unsupported',
];

/** What of a search stands in the address of its page. Times are those of clocks in the workspace's zone: `2026-11-27T14:00`. */
export interface DecisionSearch {
  readonly line_item_id?: string;
  /** What became of the line item, or of any candidate. */
  readonly verdict?: string;
  readonly podcast_id?: string;
  readonly episode_id?: string;
  readonly outcome?: 'filled' | 'empty';
  readonly from?: string;
  readonly to?: string;
  /** Nothing is read without it. */
  readonly purpose?: Purpose;
  readonly page?: number;
}

/** What decisions are found by, as the Management API takes it. */
export type FoundBy = Readonly<
  Partial<Record<'line_item_id' | 'verdict' | 'podcast_id' | 'episode_id' | 'outcome' | 'from' | 'to', string>>
>;

const patterns = {
  line_item_id: /^li_[0-9a-z]{26}$/,
  verdict: new RegExp(`^(${verdictCodes.join('|')})$`),
  podcast_id: /^pod_[0-9a-z]{26}$/,
  episode_id: /^ep_[0-9a-z]{26}$/,
  outcome: /^(filled|empty)$/,
  from: /^\d{4}-\d\d-\d\dT\d\d:\d\d$/,
  to: /^\d{4}-\d\d-\d\dT\d\d:\d\d$/,
} as const;

/** Reads a purpose of an address. */
export const parsePurpose = (value: unknown): Purpose | undefined => purposes.find((purpose) => purpose === value);

/** Reads an address; what it does not know is left out, so that a broken link still opens. */
export function parseDecisionSearch(search: Readonly<Record<string, unknown>>): DecisionSearch {
  const texts = Object.fromEntries(
    Object.entries(patterns).flatMap(([name, pattern]) => {
      const value = search[name];
      return typeof value === 'string' && pattern.test(value) ? [[name, value]] : [];
    }),
  );
  const purpose = parsePurpose(search['purpose']);
  const page = Number(search['page']);
  return {
    ...(texts as DecisionSearch),
    ...(purpose && { purpose }),
    ...(Number.isSafeInteger(page) && page > 1 ? { page } : {}),
  };
}
