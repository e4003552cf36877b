import type { identityCatalog } from '@longwave/command-catalog';
import { accessOf, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';

/** Kinds that a person makes on the account pages; the others come from signing in and from OAuth. */
const madeByPeople: readonly string[] = ['api_key', 'legacy_token', 'mcp_personal_token'];

/** Rules of the credential commands. */
export const credentialRules: Pick<Rules<typeof identityCatalog>, 'credential.issue' | 'credential.expire'> = {
  'credential.issue': ({ changes, actor, workspaceId }) => {
    if (actor.kind !== 'principal') return { attributes: changes };
    const { user_id: userId } = actor.principal;
    if (!madeByPeople.includes(changes.kind))
      throw new Problem('permission_denied', `No person makes a credential of the kind ${changes.kind}.`);
    if (changes.user_id !== undefined && changes.user_id !== userId)
      throw new Problem('permission_denied', 'A token stands for the person who makes it.');
    if (accessOf(actor, workspaceId).roles.includes('owner')) return { attributes: changes };
    if (userId === undefined) throw new Problem('permission_denied', 'Only a person makes keys and tokens here.');
    // Of a member: it may do what the member may do at each request, and ends with the membership.
    return { attributes: { ...changes, user_id: userId } };
  },

  'credential.expire': ({ current, changes: { expires_at: expiresAt } }) => {
    const isLater = current.expires_at !== undefined && Date.parse(expiresAt) > Date.parse(current.expires_at);
    const detail = `It already ends at ${current.expires_at}; that time never moves later.`;
    if (isLater)
      throw new Problem('validation_failed', detail, {
        errors: [{ path: '/changes/expires_at', code: 'out_of_range', detail }],
      });
    return { attributes: { ...current, expires_at: expiresAt } };
  },
};
