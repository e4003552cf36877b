import { z } from 'zod';

/** Where a break is in an episode. */
export const breakPosition = z.enum(['pre', 'mid', 'post']);

/** One ad in one slot of one play, as facts, decisions and the ledger name it. */
export const servedAdSchema = z.object({
  /** Names this serving in facts, ledger and delivery events. */
  serving_id: z.string(),
  campaign_id: z.string(),
  line_item_id: z.string(),
  creative_id: z.string(),
  break_key: z.string(),
  slot: z.int().min(0),
  /** Whether it is billed when it is delivered. */
  billable: z.boolean(),
});
