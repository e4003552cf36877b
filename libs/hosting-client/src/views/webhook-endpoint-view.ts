import { productCatalog, type Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import type { View } from './view.ts';

const { attributes, states } = productCatalog.resources.webhook_endpoints;
const fields = attributes.shape;

const schema = z.strictObject({
  id: z.string(),
  url: fields.url.describe('Scheme and host alone, for members who may not change the endpoint.'),
  events: fields.events,
  description: z.string().optional(),
  state: z.enum(states),
  /** Why it is disabled. */
  disabled_reason: z.string().optional(),
  secret_hint: fields.secret_hint.describe('The last four characters of the secret, without padding.'),
  former_secret_valid_until: z.iso
    .datetime()
    .optional()
    .describe('Until then messages carry a signature of the secret before the newest rotation, too.'),
});

function render({ id, attributes: stored, lifecycle_state: state }: Resource<'webhook_endpoints'>) {
  const { url, events, description, secret_hint, previous_secret: former, state_reason: reason } = stored;
  return {
    ...{ id, url, events, ...(description !== undefined && { description }), state },
    ...(state === 'disabled' && reason !== undefined && { disabled_reason: reason }),
    ...{ secret_hint, ...(former && { former_secret_valid_until: former.valid_until }) },
  };
}

export const webhookEndpointView = { name: 'WebhookEndpoint', schema, render } satisfies View<'webhook_endpoints'>;
