import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@longwave/ids';
import * as openid from 'openid-client';
import type { Installation } from './_fleet.ts';

/** The two ways of a producer to the audience API: a client with a secret, and a token that the operator issues. */
export async function grantMachineAccess({ fleet, operator }: Installation, workspaceId: string) {
  const [secret, clientId] = [randomBytes(32).toString('base64url'), newId('req') as string];
  await operator.identityCommand(
    workspaceId,
    'oauth_client.register',
    { type: 'oauth_clients' },
    {
      ...{ client_id: clientId, kind: 'machine', name: 'Edge', token_endpoint_auth_method: 'client_secret_basic' },
      ...{ secret_digest: createHash('sha256').update(secret).digest('hex'), grant_types: ['client_credentials'] },
      ...{ redirect_uris: [], resources: ['audience'], scopes: ['audience:read'] },
      ...{ producer: 'acme', workspaces: [workspaceId] },
    },
  );
  const options = { execute: [openid.allowInsecureRequests] };
  const basic = openid.ClientSecretBasic(secret);
  const config = await openid.discovery(new URL(fleet.urls.base), clientId, undefined, basic, options);
  const resource = `${fleet.urls.api}/audience/v1`;
  const { access_token: clientToken } = await openid.clientCredentialsGrant(config, { resource });
  const { token: issuedToken } = await operator.issueMachineToken({
    ...{ producer: 'acme', workspaces: [workspaceId], scopes: ['audience:read'] },
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  return { secret, clientToken, issuedToken };
}
