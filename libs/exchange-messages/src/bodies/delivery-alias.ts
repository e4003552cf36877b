import { z } from 'zod';
import { ordinal, sourceId, surfaceId } from '../fields.ts';

/** Ways to answer a delivery request. */
export const routes = ['platform_controlled', 'ad_free', 'clean', 'source'] as const;

const routePolicy = z.strictObject({
  surface_id: surfaceId,
  route: z
    .enum(routes)
    .describe('platform_controlled: with ads. ad_free, clean: without. source: a redirect to your own file.'),
  when_unavailable: z
    .enum(['source', 'gone'])
    .describe('While nothing can be delivered, source redirects to your own file, and gone answers 404.'),
});

/** A lasting public address of an episode, and what it delivers: `…/delivery/v1/x/{host}/{path_slug}.mp3`. */
export const deliveryAliasBody = z.strictObject({
  alias: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,95}$/, 'Use 1 to 96 small letters, digits, “.”, “_” and “-”.')
    .describe('Your name of it, the source_id of the subject.'),
  host: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'Use 1 to 63 small letters, digits and “-” between them.')
    .describe('Your name in addresses; it belongs to your workspace for ever.'),
  path_slug: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,119}$/, 'Use 1 to 120 letters, digits, “.”, “_”, “~” and “-”.')
    .describe('The name of the file in the address, without “.mp3”; an alias keeps it for ever.'),
  target: z.strictObject({ type: z.literal('episode'), source_id: sourceId }),
  route_policy: routePolicy,
  state: z.enum(['active', 'paused', 'retired']).describe('retired answers 410, and cannot be undone.'),
  supersedes_version: ordinal
    .nullable()
    .describe('The source_version of the last message about this alias; null for the first.'),
});
export type DeliveryAlias = z.output<typeof deliveryAliasBody>;
