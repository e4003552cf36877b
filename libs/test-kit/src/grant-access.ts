import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@longwave/ids';
import { apiScopes } from '@longwave/principal';
import type { Browser } from './browser.ts';
import type { Operator } from './operator.ts';
import type { Person } from './people.ts';

/** The one address to which answers for connectors of tests go. */
export const connectorRedirect = 'https://studio.example/callback';

/** Registers a public client that may ask for every scope of the APIs for people; answers its client_id. */
export async function registerConnector({ operator }: { readonly operator: Operator }): Promise<string> {
  const clientId = newId('req');
  const changes = {
    ...{ client_id: clientId, kind: 'connector', name: 'Studio', token_endpoint_auth_method: 'none' },
    ...{ grant_types: ['authorization_code', 'refresh_token'], redirect_uris: [connectorRedirect] },
    ...{ resources: ['mcp', 'rest', 'management'] },
    scopes: [...apiScopes.mcp, ...apiScopes.rest, ...apiScopes.management],
  };
  await operator.identityCommand(newId('ws'), 'oauth_client.register', { type: 'oauth_clients' }, changes);
  return clientId;
}

/** Opens an authorization request in a browser that is signed in, and allows it. Answers the address of the client with the code. */
export async function consentTo(
  browser: Browser,
  request: string,
  choice: {
    readonly account: string;
    readonly scope: string | readonly string[];
    /** The purposes for which traces of decisions may be read. */
    readonly purpose?: string | readonly string[];
  },
): Promise<URL> {
  const page = (await browser.get(request)).headers.get('location') ?? '';
  const allowed = await browser.post(`${page}/consent`, choice, {}, page);
  const resumed = await browser.get(allowed.headers.get('location') ?? '');
  return new URL(resumed.headers.get('location') ?? '');
}

/** An access token for these scopes of a resource in an account of the person, by the whole code flow: five requests. */
export async function getAccessToken(
  { browser, accountId }: Pick<Person, 'browser' | 'accountId'>,
  ask: {
    readonly base: string;
    readonly clientId: string;
    readonly resource: string;
    readonly scopes: readonly string[];
  },
): Promise<string> {
  const { base, clientId, resource, scopes } = ask;
  const verifier = randomBytes(32).toString('base64url');
  const client = { client_id: clientId, redirect_uri: connectorRedirect };
  const request = new URLSearchParams({
    ...{ ...client, response_type: 'code', resource, scope: scopes.join(' '), code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  const answer = await consentTo(browser, `/oauth/authorize?${request}`, {
    ...{ account: accountId, scope: scopes },
    ...(scopes.includes('management:diagnostics') && { purpose: 'quality_assurance' }),
  });
  const response = await fetch(`${base}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ ...client, grant_type: 'authorization_code', code: answer.searchParams.get('code') ?? '' },
      code_verifier: verifier,
    }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token?: string };
  if (token === undefined) throw new Error(`after ${answer.search} the token endpoint answered ${response.status}`);
  return token;
}
