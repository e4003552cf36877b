import { creates, on, type Examples } from './_example.ts';
import { receiverOrigin } from './_management.ts';
import type { World } from './_world.ts';

/** The fields of an endpoint that wants to know of new podcasts. */
const endpointFields = { url: `${receiverOrigin}/hook`, events: ['podcast.created'] };

const endpoint = (w: World) => w.send('webhook_endpoint.create', null, endpointFields);

/** Valid requests for the commands of webhook endpoints. */
export const webhookExamples = {
  'webhook_endpoint.create': async (w) => creates('webhook_endpoints', endpointFields, w.actor),
  'webhook_endpoint.revise': async (w) => on(await endpoint(w), { description: 'For the editors.' }, w.actor),
  'webhook_endpoint.rotate_secret': async (w) => on(await endpoint(w), {}, w.actor),
  'webhook_endpoint.enable': async (w) =>
    on(await w.send('webhook_endpoint.disable', await endpoint(w), { cause: 'Moving.' }), {}, w.actor),
  'webhook_endpoint.disable': async (w) => on(await endpoint(w), {}, w.actor),
  'webhook_endpoint.delete': async (w) => on(await endpoint(w), {}, w.actor),
  'webhook_endpoint.replay': async (w) => on(await endpoint(w), { since: w.now().toISOString() }, w.actor),
  'webhook_endpoint.send_test': async (w) => on(await endpoint(w), {}, w.actor),
} satisfies Examples;
