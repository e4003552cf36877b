import type { productCatalog } from '@longwave/command-catalog';
import { holdResource, type Actor, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { refuseField } from '../refuse-field.ts';
import { requireResources } from '../require-resources.ts';
import { keyProofFault, thumbprintOf } from './key-proof.ts';
import { isKeyKnown } from './machine-key-table.ts';

type MachineKeyRules = Pick<
  Rules<typeof productCatalog>,
  'machine_key.register' | 'machine_key.activate' | 'machine_key.retire' | 'machine_key.revoke' | 'machine_key.expire'
>;

const inUtc = (time: string): string => new Date(time).toISOString();

/** Whether management carries out an accepted rotation, which named an active successor: the key ends, whatever became of that one since. */
const followsRotation = (actor: Actor): boolean =>
  actor.kind === 'service' && actor.name === 'management' && actor.requestedBy === undefined;

/** Rules of the machine keys. */
export const machineKeyRules: MachineKeyRules = {
  'machine_key.register': async ({ tx, workspaceId, changes, actor, now }) => {
    const { authority_id: authorityId, jwk, proof, not_before: from = now.toISOString(), not_after: until } = changes;
    const [authority] = await requireResources(tx, {
      ...{ workspaceId, type: 'authority_grants', ids: [authorityId], path: '/changes/authority_id' },
      unless: ['proposed', 'revoked', 'expired'],
    });
    const ends = Date.parse(until);
    if (ends <= Math.max(now.getTime(), Date.parse(from)))
      refuseField('/changes/not_after', 'in_the_past', 'The key must hold for some time from now on.');
    if (ends > Date.parse(authority!.attributes.expires_at))
      refuseField('/changes/not_after', 'beyond_authority', 'The key must end with its authority grant, or before.');
    // A registration that was approved later has been checked for its time when it was requested.
    const at = actor.kind === 'service' && actor.requestedBy !== undefined ? undefined : now;
    const fault = await keyProofFault(proof, { jwk, workspaceId, authorityId }, at);
    if (fault !== undefined) refuseField('/changes/proof', 'not_proved', fault);
    const thumbprint = await thumbprintOf(jwk);
    if (await isKeyKnown(tx, thumbprint)) throw new Problem('value_taken', 'This key was registered before.');
    const attributes = { ...changes, thumbprint, not_before: inUtc(from), not_after: inUtc(until) };
    return { attributes };
  },

  'machine_key.activate': async ({ tx, workspaceId, current, now }) => {
    if (Date.parse(current.not_after) <= now.getTime())
      throw new Problem('state_not_allowed', 'The time of this key is over.');
    if ((await holdResource(tx, workspaceId, 'authority_grants', current.authority_id)) !== 'active')
      throw new Problem('state_not_allowed', 'The authority grant of this key is not active.');
    return { attributes: current };
  },

  'machine_key.retire': async ({ tx, workspaceId, subjectId, current, changes, actor, now }) => {
    const { successor_id: id, overlap_until: overlap } = changes;
    const path = '/changes/successor_id';
    const [successor] = await requireResources(tx, {
      ...{ workspaceId, type: 'machine_keys', ids: [id], path },
      unless: followsRotation(actor) ? [] : ['pending', 'retiring', 'revoked', 'expired'],
    });
    if (id === subjectId || successor!.attributes.authority_id !== current.authority_id)
      refuseField(path, 'no_successor', 'Name another active key of the same authority grant.');
    const ends = Date.parse(overlap);
    if (ends <= now.getTime() || ends > Date.parse(current.not_after))
      refuseField('/changes/overlap_until', 'out_of_range', 'The overlap ends in the future, and not after the key.');
    return { attributes: { ...current, successor_id: id, overlap_until: inUtc(overlap) } };
  },

  'machine_key.revoke': ({ current, changes: { suspect_since: since }, now }) => {
    if (since !== undefined && Date.parse(since) > now.getTime())
      refuseField('/changes/suspect_since', 'in_the_future', 'Name a time that has passed.');
    return { attributes: { ...current, ...(since !== undefined && { suspect_since: inUtc(since) }) } };
  },

  'machine_key.expire': ({ current, now }) => {
    const ends = [current.not_after, current.overlap_until].flatMap((time) => (time ? [Date.parse(time)] : []));
    if (Math.min(...ends) > now.getTime())
      throw new Problem('state_not_allowed', 'The time of this key is not over yet.');
    return { attributes: current };
  },
};
