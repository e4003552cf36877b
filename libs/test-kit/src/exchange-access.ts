import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@longwave/ids';
import type { FleetAccess } from '@longwave/fleet';
import type { JWK } from 'jose';
import { commandsIn, type Operator } from './operator.ts';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** An active authority grant for a client of the exchange, and the client with its secret. */
export async function grantExchangeAccess(
  { fleet, operator }: { readonly fleet: Pick<FleetAccess, 'urls'>; readonly operator: Operator },
  workspaceId: string,
) {
  const send = commandsIn(operator, workspaceId);
  const [clientId, secret] = [newId('req').replace('req_', 'host-'), randomBytes(32).toString('base64url')];
  const proposed = await send('authority_grant.propose', 'authority_grants', {
    ...{ grantee: { client_id: clientId }, role: 'machine', expires_at: inDays(90) },
  });
  const { id: authorityId } = await send('authority_grant.activate', proposed);
  await operator.identityCommand(
    workspaceId,
    'oauth_client.register',
    { type: 'oauth_clients' },
    {
      ...{ client_id: clientId, kind: 'machine', name: 'Northern Light' },
      ...{ token_endpoint_auth_method: 'client_secret_basic', grant_types: ['client_credentials'], redirect_uris: [] },
      secret_digest: createHash('sha256').update(secret).digest('hex'),
      ...{ resources: ['exchange'], scopes: ['exchange:write', 'exchange:read'] },
      authority: { workspace_id: workspaceId, authority_id: authorityId },
    },
  );
  return {
    authorityId,
    /** Settings of a connection, in the form of `npx longwave exchange --config`. */
    settings: {
      ...{ api_url: fleet.urls.api, token_url: `${fleet.urls.base}/oauth/token`, client_id: clientId },
      ...{ client_secret: secret, workspace_id: workspaceId, authority_id: authorityId },
    },
    /** Registers a key for both purposes and puts it into use; answers its id. */
    registerKey: async ({ jwk, proof }: { readonly jwk: JWK; readonly proof: string }) => {
      const purposes = ['content', 'platform_evidence'];
      const changes = { authority_id: authorityId, jwk, proof, purposes, not_after: inDays(60) };
      const registered = await send('machine_key.register', 'machine_keys', changes);
      return (await send('machine_key.activate', registered)).id;
    },
  };
}
