import { newId } from '@longwave/ids';
import { creates, on, type Examples } from './_example.ts';
import { digest, service } from './_values.ts';
import type { World } from './_world.ts';

export const privacyRequest = { request_reference: 'GDPR 2026-17', listener_keys: [digest] };

/** An erasure that waits for its worker. */
export const requestedErasure = (w: World, changes: object = {}) =>
  w.send('listener_data.erase', null, { ...privacyRequest, ...changes }, service('operator'));

async function begunErasure(w: World) {
  const requested = await requestedErasure(w);
  const lease = await w.lease('erase_listeners', requested.id);
  return { erasure: await w.send('listener_erasure.begin', requested, {}, service('management'), lease), lease };
}

/** Valid requests for the commands of erasures. */
export const privacyExamples = {
  'listener_data.erase': async (w) =>
    creates('listener_erasures', { ...privacyRequest, decision_ids: [newId('dec')] }, w.actor),
  'listener_erasure.begin': async (w) => {
    const requested = await requestedErasure(w);
    return on(requested, {}, service('management'), await w.lease('erase_listeners', requested.id));
  },
  'listener_erasure.record': async (w) => {
    const { erasure, lease } = await begunErasure(w);
    const erased = [{ store: 'public-delivery', table: 'binding', rows: 2 }];
    return on(erasure, { erased, unknown_decisions: 0, kept_listeners: 0 }, service('management'), lease);
  },
  'listener_erasure.fail': async (w) => {
    const { erasure, lease } = await begunErasure(w);
    return on(erasure, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
} satisfies Examples;
