import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { refuseField } from '../refuse-field.ts';
import { requireResources } from '../require-resources.ts';
import { granteesOf } from './grantee.ts';

type AuthorityGrantRules = Pick<
  Rules<typeof productCatalog>,
  'authority_grant.propose' | 'authority_grant.activate' | 'authority_grant.expire'
>;

/** Rules of the authority grants. */
export const authorityGrantRules: AuthorityGrantRules = {
  'authority_grant.propose': async ({ tx, workspaceId, changes, actor, now }) => {
    const { grantee, scope_filter: scope, expires_at: expiresAt } = changes;
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
    const user = actor.kind === 'principal' ? actor.principal.user_id : undefined;
    if (user === undefined || !(await granteesOf(tx, current)).includes(user))
      throw new Problem('permission_denied', 'Only the grantee activates a grant.');
    if (Date.parse(current.expires_at) <= now.getTime())
      throw new Problem('state_not_allowed', 'The time of this grant is over.');
    return { attributes: { ...current, grantee_user_id: user } };
  },

  'authority_grant.expire': ({ current, now }) => {
    if (Date.parse(current.expires_at) > now.getTime())
      throw new Problem('state_not_allowed', 'The time of this grant is not over yet.');
    return { attributes: current };
  },
};
