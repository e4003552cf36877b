import { ownerRoles, rolesOfMember, type Principal } from '@longwave/principal';
import { bootstrapScope } from '../oauth/resources.ts';
import type { StoredGrant } from '../grants/grant-table.ts';
import { clientIdOf, type IssuedCredential } from './judge-credential.ts';

/** Whether it stands for a person who is only a member of the account. */
export const isMembers = ({ userId, account }: IssuedCredential): boolean =>
  userId !== undefined && userId !== account.owner_user_id;

/** The person who acts through a credential. */
export const principalOf = (
  credential: IssuedCredential,
  kind: Principal['credential_kind'],
  grants: readonly StoredGrant[],
): Principal & { readonly client_id: string } => {
  const userId = credential.userId ?? credential.account.owner_user_id;
  return {
    account_id: credential.account.id,
    ...(userId !== undefined && { user_id: userId }),
    workspace_id: credential.account.workspaceId,
    roles: isMembers(credential) ? rolesOfMember(credential.memberPermissions ?? []) : [...ownerRoles],
    grants: grants.map(({ workspaceId, podcastId, roles }) => ({
      workspace_id: workspaceId,
      ...(podcastId !== undefined && { podcast_id: podcastId }),
      roles: [...roles],
    })),
    credential_id: credential.id,
    client_id: clientIdOf(credential),
    credential_kind: kind,
    read_only: credential.scope === 'read',
  };
};

/**
 * The person as APIs are told: without rights in the own workspace while it is not provisioned, and without any through a token that is
 * for provisioning alone.
 */
export function withRightsOf(
  credential: IssuedCredential,
  principal: ReturnType<typeof principalOf>,
): typeof principal {
  const isForBootstrap = credential.scopes?.includes(bootstrapScope) === true;
  if (credential.account.hasWorkspace && !isForBootstrap) return principal;
  return { ...principal, roles: [], ...(isForBootstrap && { grants: [] }) };
}
