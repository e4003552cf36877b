import type { identityCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';

/** Kinds that a person makes on the account pages; the others come from signing in and from OAuth. */
const madeByPeople: readonly string[] = ['api_key', 'legacy_token', 'mcp_personal_token'];

/** Rules of the credential commands. */
export const credentialRules: Pick<Rules<typeof identityCatalog>, 'credential.issue' | 'credential.expire'> = {
  'credential.issue': ({ changes, actor }) => {
    if (actor.kind === 'principal') {
      if (!madeByPeople.includes(changes.kind))
        throw new Problem('permission_denied', `No person makes a credential of the kind ${changes.kind}.`);
      if (changes.user_id !== undefined && changes.user_id !== actor.principal.user_id)
        throw new Problem('permission_denied', 'A token stands for the person who makes it.');
    }
    return { attributes: changes };
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
