import { z } from 'zod';
import { breakPosition, servedAdSchema } from './served-ad.ts';

/** A stored decision that filled slots, as internal-serving publishes it: the first stage of the ad ledger. */
export const decisionMadeSchema = z.object({
  decision_id: z.string(),
  workspace_id: z.string(),
  podcast_id: z.string(),
  episode_id: z.string(),
  /** RFC 3339. */
  decided_at: z.string(),
  /** ISO 3166-1 alpha-2 or "unknown". */
  country: z.string(),
  /** "stream" for plays by HLS, "download" for files; absent in decisions of releases before it. */
  surface_class: z.enum(['stream', 'download']).optional(),
  /** Position of the break; absent in decisions of releases before it. */
  slots: z.array(servedAdSchema.extend({ position: breakPosition.optional() })).min(1),
});

export type DecisionMade = z.infer<typeof decisionMadeSchema>;
