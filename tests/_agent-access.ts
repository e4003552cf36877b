import { newId } from '@longwave/ids';
import * as openid from 'openid-client';
import type { Installation } from './_fleet.ts';
import type { Person } from './_people.ts';

const redirectUri = 'https://studio.example/callback';

/** Registers a connector with every permission of agents; answers its client_id. */
export async function registerConnector({ operator }: Installation): Promise<string> {
  const clientId = newId('req');
  await operator.identityCommand(
    newId('ws'),
    'oauth_client.register',
    { type: 'oauth_clients' },
    {
      ...{ client_id: clientId, kind: 'connector', name: 'Studio', token_endpoint_auth_method: 'none' },
      ...{ grant_types: ['authorization_code', 'refresh_token'], redirect_uris: [redirectUri], resources: ['mcp'] },
      scopes: ['mcp:read', 'mcp:analytics.read'],
    },
  );
  return clientId;
}

/** What an agent has after a person allowed it everything that it asked for. */
export interface Granted {
  readonly config: openid.Configuration;
  readonly tokens: openid.TokenEndpointResponse;
  readonly code: string;
  readonly verifier: string;
}

/** The whole way of an agent to its tokens: discovery from the resource, the page of consent in the person's browser, the code. */
export async function grantAccess({ fleet }: Installation, person: Person, clientId: string): Promise<Granted> {
  const resource = `${fleet.urls.mcp}/mcp`;
  const { headers } = await fetch(resource, { method: 'POST' });
  const metadataUrl = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '')![1]!;
  const metadata = (await (await fetch(metadataUrl)).json()) as { authorization_servers: [string] };
  const issuer = new URL(metadata.authorization_servers[0]);
  const options = { execute: [openid.allowInsecureRequests] };
  const config = await openid.discovery(issuer, clientId, undefined, openid.None(), options);
  const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()];
  const request = openid.buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirectUri, resource, scope: 'mcp:read offline_access', prompt: 'consent', state },
    ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
  });
  const page = (await person.browser.get(request.href)).headers.get('location')!;
  const fields = { account: person.accountId, scope: 'mcp:read' };
  const allowed = await person.browser.post(`${page}/consent`, fields, {}, page);
  const resumed = await person.browser.get(allowed.headers.get('location')!);
  const answer = new URL(resumed.headers.get('location')!);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await openid.authorizationCodeGrant(config, answer, checks, { resource });
  return { config, tokens, verifier, code: answer.searchParams.get('code')! };
}
