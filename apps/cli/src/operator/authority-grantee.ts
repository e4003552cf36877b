import { Problem } from '@longwave/problems';
import type { Operator } from '@longwave/test-kit/clients';

/** The authority grant for which a machine of the exchange speaks, and its workspace. */
export interface NamedAuthority {
  readonly workspace_id: string;
  readonly authority_id: string;
}

/** Throws unless the grant is given to this client: its tokens would be good for nothing. */
export async function assertGrantee(operator: Operator, named: NamedAuthority, clientId: string): Promise<void> {
  const { workspace_id: workspaceId, authority_id: id } = named;
  const grant = await operator.read(workspaceId, 'authority_grants', id).catch((cause: unknown) => {
    if (!(cause instanceof Problem) || cause.code !== 'not_found') throw cause;
    throw new Error(`The workspace ${workspaceId} has no authority grant ${id}.`, { cause });
  });
  const { grantee } = grant.attributes;
  if ('client_id' in grantee && grantee.client_id === clientId) return;
  throw new Error(
    'client_id' in grantee
      ? `The authority grant ${id} is for the client “${grantee.client_id}”, not for “${clientId}”. Register that client, or propose a grant for this one.`
      : `The authority grant ${id} is for a person. A machine of the exchange needs one whose grantee is its client_id.`,
  );
}

/** The client_id of a registered client. Throws when there is none of this id. */
export async function clientIdOf(operator: Operator, id: string): Promise<string> {
  const found = (await operator.identityList(undefined, 'oauth_clients')).find((each) => each.id === id);
  if (!found) throw new Error(`There is no client ${id}.`);
  const { typedResource } = await import('@longwave/command-catalog');
  return typedResource(found, 'oauth_clients').attributes.client_id;
}
