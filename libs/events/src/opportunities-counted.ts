import { z } from 'zod';
import { breakPosition } from './served-ad.ts';

/** Opportunities of whole hours as internal-serving has counted them: numbers since the beginning of their hour, never differences. */
export const opportunitiesCountedSchema = z.object({
  rows: z.array(
    z.object({
      workspace_id: z.string(),
      /** Beginning of the hour of the plays, RFC 3339. */
      hour: z.iso.datetime(),
      podcast_id: z.string(),
      episode_id: z.string(),
      /** ISO 3166-1 alpha-2 or "unknown". */
      country: z.string(),
      /** Empty in the row that counts plays, whatever breaks they have. */
      break_key: z.string(),
      /** Why these slots stayed empty; empty in the row of those that were filled. */
      no_ad_reason: z.string(),
      /** Plays for which ads were asked; 0 in rows of breaks. */
      requests: z.int().min(0),
      /** Slots. */
      opportunities: z.int().min(0),
      /** The slots by the position of their break; those that are missing have an unknown one. Absent in rows of plays and of releases before it. */
      positions: z.partialRecord(breakPosition, z.int().min(0)).optional(),
    }),
  ),
  /** All hours before this one have been published, here and in messages before; absent but in the last message of a round. RFC 3339. */
  counted_until: z.iso.datetime().optional(),
});

export type OpportunitiesCounted = z.infer<typeof opportunitiesCountedSchema>;
