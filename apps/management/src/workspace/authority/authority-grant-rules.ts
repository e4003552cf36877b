import type { productCatalog } from '@longwave/command-catalog';
import { findResource, holdResource, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { refuseField } from '../refuse-field.ts';
import { requireResources } from '../require-resources.ts';
import { granteesOf, isForPlatform } from './grantee.ts';
import { requireSigningAuthority } from './signing-authority.ts';

type AuthorityGrantRules = Pick<
  Rules<typeof productCatalog>,
  'authority_grant.propose' | 'authority_grant.activate' | 'authority_grant.record_rotation' | 'authority_grant.expire'
>;

/** Throws when the time of a grant is over; the clock may not have ended it yet. */
function assertNotOver({ expires_at: expiresAt }: { readonly expires_at: string }, now: Date): void {
  if (Date.parse(expiresAt) <= now.getTime()) throw new Problem('state_not_allowed', 'The time of this grant is over.');
}

/** Rules of the authority grants. */
export const authorityGrantRules: AuthorityGrantRules = {
  'authority_grant.propose': async ({ tx, workspaceId, changes, actor, now }) => {
    const { grantee, role, scope_filter: scope, expires_at: expiresAt } = changes;
    if (isForPlatform({ grantee }) !== (role === 'machine'))
      refuseField('/changes/role', 'role_of_others', 'A hosting platform has the role “machine”, and nobody else has.');
    if (isForPlatform({ grantee }) && scope !== undefined)
      refuseField('/changes/scope_filter', 'not_allowed', 'A hosting platform speaks for its own streams alone.');
    if (Date.parse(expiresAt) <= now.getTime())
      refuseField('/changes/expires_at', 'in_the_past', 'The grant must end in the future.');
    const proposer = actor.kind === 'principal' ? actor.principal.user_id : actor.requestedBy;
    if (proposer !== undefined && (await granteesOf(tx, { grantee })).includes(proposer))
      refuseField('/changes/grantee', 'own_grant', 'Nobody grants a role to themselves.');
    const ids = scope?.podcast_ids ?? [];
    await requireResources(tx, { workspaceId, type: 'podcasts', ids, path: '/changes/scope_filter/podcast_ids' });
    return { attributes: { ...changes, expires_at: new Date(expiresAt).toISOString() } };
  },

  'authority_grant.activate': async ({ tx, current, actor, now }) => {
    if (isForPlatform(current)) {
      assertNotOver(current, now);
      return { attributes: current };
    }
    const user = actor.kind === 'principal' ? actor.principal.user_id : undefined;
    if (user === undefined || !(await granteesOf(tx, current)).includes(user))
      throw new Problem('permission_denied', 'Only the grantee activates a grant.');
    assertNotOver(current, now);
    return { attributes: { ...current, grantee_user_id: user } };
  },

  'authority_grant.record_rotation': async ({ tx, workspaceId, subjectId, current, changes, now }) => {
    const { rotation, message_digest, authority_id: authorityId, signed_by: signedBy } = changes;
    const { retired_key_id: retiredId, successor_key_id: successorId, overlap_until: overlap } = rotation;
    if (authorityId !== subjectId)
      refuseField('/changes/authority_id', 'other_authority', 'An authority changes its own keys alone.');
    if (signedBy !== successorId || retiredId === successorId)
      refuseField('/changes/rotation/successor_key_id', 'no_successor', 'The successor signs, and is another key.');
    await requireSigningAuthority(tx, { workspaceId, authorityId, keyId: signedBy, now });
    if ((await holdResource(tx, workspaceId, 'machine_keys', successorId)) !== 'active')
      refuseField(
        ...['/changes/rotation/successor_key_id', 'not_active'],
        'The successor is being retired itself. Sign with an active key, or have an admin revoke the key that is to end.',
      );
    await holdResource(tx, workspaceId, 'machine_keys', retiredId);
    const retired = await findResource(tx, workspaceId, 'machine_keys', retiredId);
    if (retired?.attributes.authority_id !== subjectId)
      refuseField('/changes/rotation/retired_key_id', 'link_not_found', 'There is no such key of this authority.');
    if (retired.lifecycle_state === 'pending')
      refuseField(
        ...['/changes/rotation/retired_key_id', 'not_active'],
        'This key was never put into use. Have an admin revoke it.',
      );
    const ends = Date.parse(overlap);
    const isOut = ends <= now.getTime() || ends > Date.parse(retired.attributes.not_after);
    if (retired.lifecycle_state === 'active' && isOut)
      refuseField(
        ...['/changes/rotation/overlap_until', 'out_of_range'],
        'The overlap ends in the future, and not after the former key.',
      );
    return {
      attributes: {
        ...current,
        rotation: { ...rotation, overlap_until: new Date(overlap).toISOString(), message_digest },
      },
    };
  },

  'authority_grant.expire': ({ current, now }) => {
    if (Date.parse(current.expires_at) > now.getTime())
      throw new Problem('state_not_allowed', 'The time of this grant is not over yet.');
    return { attributes: current };
  },
};
