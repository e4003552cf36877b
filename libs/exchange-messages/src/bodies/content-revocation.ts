import { z } from 'zod';
import { instant, ordinal, text } from '../fields.ts';

/** Takes one version of an episode back for good; a newer version may be served. */
export const contentRevocationBody = z.strictObject({
  revoke_version: ordinal.describe('The source version, also one that was not sent yet.'),
  mode: z.enum(['stop_new', 'stop_all']).describe('stop_new: plays that have begun finish. stop_all: they end, too.'),
  cause: text(500),
  effective_at: instant.describe('When it takes effect; at once, when the time has passed.'),
});
export type ContentRevocation = z.output<typeof contentRevocationBody>;
