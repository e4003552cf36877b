import { z } from 'zod';

/** One slot that a decision gave away. */
const decidedSlot = z.object({
  /** Names this serving in facts, ledger and delivery events. */
  serving_id: z.string(),
  campaign_id: z.string(),
  line_item_id: z.string(),
  creative_id: z.string(),
  break_key: z.string(),
  slot: z.int().min(0),
  billable: z.boolean(),
});

/** What internal-serving says of every stored decision that gave slots away: the first stage of the ad ledger. */
export const decisionMadeSchema = z.object({
  decision_id: z.string(),
  workspace_id: z.string(),
  podcast_id: z.string(),
  episode_id: z.string(),
  /** RFC 3339. */
  decided_at: z.string(),
  /** ISO 3166-1 alpha-2 or "unknown". */
  country: z.string(),
  slots: z.array(decidedSlot).min(1),
});

export type DecisionMade = z.infer<typeof decisionMadeSchema>;
