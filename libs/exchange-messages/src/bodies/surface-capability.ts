import { z } from 'zod';
import { instant, surfaceId } from '../fields.ts';

/** The abilities of a surface: a player, an app or a device class of the sender. */
export const surfaceCapabilityBody = z.strictObject({
  surface_id: surfaceId.describe('Your name of it, the source_id of the subject.'),
  protocols: z
    .array(z.enum(['progressive', 'hls', 'vast']))
    .min(1)
    .max(3)
    .describe('progressive: single files.'),
  interstitials: z.enum(['none', 'asset_uri', 'asset_list']),
  ranges: z.boolean().describe('Whether it requests byte ranges.'),
  max_redirects: z.int().min(0).max(20).describe('Redirects that it follows in a row.'),
  ads_video: z.boolean().describe('Whether it shows video ads.'),
  client_events: z.enum(['none', 'get', 'post']),
  measurement: z.enum(['server_log', 'client_event', 'platform_report']),
  personalisation: z.enum(['none', 'per_session', 'per_download']),
  offline_audio: z.boolean(),
  apple_profile: z.boolean().optional(),
  valid_until: instant.optional().describe('Absent: until a newer version.'),
});
export type SurfaceCapability = z.output<typeof surfaceCapabilityBody>;
