import { connectorRedirect, consentTo, type Person } from '@longwave/test-kit/clients';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import * as openid from 'openid-client';
import type { Installation } from './_fleet.ts';

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
    ...{ redirect_uri: connectorRedirect, resource, scope: 'mcp:read offline_access', prompt: 'consent', state },
    ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
  });
  const choice = { account: person.accountId, scope: 'mcp:read' };
  const answer = await consentTo(person.browser, request.href, choice);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await openid.authorizationCodeGrant(config, answer, checks, { resource });
  return { config, tokens, verifier, code: answer.searchParams.get('code')! };
}

/** The memory of an agent that leaves OAuth to the SDK. `kept.address` is what its person is to open. */
export function createAgentMemory(clientId: string) {
  const kept: { tokens?: OAuthTokens; verifier?: string; address?: URL; server?: OAuthDiscoveryState } = {};
  const provider: OAuthClientProvider = {
    redirectUrl: connectorRedirect,
    clientMetadata: { client_name: 'Studio', redirect_uris: [connectorRedirect] },
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (address) => void (kept.address = address),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier!,
    saveDiscoveryState: (server) => void (kept.server = server),
    discoveryState: () => kept.server,
  };
  return { kept, provider };
}

export type AgentMemory = ReturnType<typeof createAgentMemory>;
