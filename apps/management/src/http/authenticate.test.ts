import { describe, expect, test } from '@jest/globals';
import { credentialKinds, signPrincipal, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { Api, Carrier, Refusal, type VerifyRequest, type VerifyResponse } from '@longwave/rpc/credential';
import { exportJWK, generateKeyPair } from 'jose';
import { createAuthenticate } from './authenticate.ts';

const baseUrl = 'https://pod.example';
const now = new Date('2026-11-27T12:00:00Z');
const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
const [signing, verifying] = await Promise.all([exportJWK(privateKey), exportJWK(publicKey)]);

type Kind = Principal['credential_kind'];

/** auth-server as its own matrix is: a session is known by a cookie, an access token for this API by a header, everything else not at all. */
async function verify({ credential, api, carrier }: VerifyRequest): Promise<VerifyResponse['outcome']> {
  const isKnown =
    (credential === 'browser_session' && carrier === Carrier.COOKIE) ||
    (credential === 'management_access_token' && carrier === Carrier.HEADER);
  if (!isKnown || api !== Api.MANAGEMENT) return { $case: 'refusal', value: Refusal.UNKNOWN_USER };
  const principal: Principal = {
    account_id: 'acc_1',
    workspace_id: 'ws_1',
    roles: ['owner'],
    grants: [],
    credential_id: 'crd_1',
    credential_kind: credential,
    read_only: false,
  };
  const plan = { requestsPerMinute: 60 } as NonNullable<
    (VerifyResponse['outcome'] & { $case: 'principal' })['value']['plan']
  >;
  const told = { accountId: 'acc_1', workspaceId: 'ws_1', roles: ['owner'], grants: [], userId: 'usr_1', grantId: '' };
  return {
    $case: 'principal',
    value: {
      ...{ ...told, credentialId: 'crd_1', credentialKind: credential, readOnly: false, plan, purposes: [] },
      ...{ clientId: `client of ${credential}`, scopes: carrier === Carrier.COOKIE ? [] : ['management:read'] },
      statement: await signPrincipal(principal, { ...signing, kid: 'k', alg: 'EdDSA' }, now),
    },
  };
}

const authenticate = createAuthenticate({ verify }, [{ ...verifying, kid: 'k', alg: 'EdDSA' }], () => now, baseUrl);

/** The kind of the credential that was taken, or the code of the refusal. */
async function outcomeOf(headers: Record<string, string>): Promise<string> {
  try {
    return (await authenticate(headers, '192.0.2.1')).principal.credential_kind;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

const carriers: Readonly<Record<string, (kind: Kind) => Record<string, string>>> = {
  bearer: (kind) => ({ authorization: `Bearer ${kind}` }),
  'Token header': (kind) => ({ token: kind }),
  'cookie from our page': (kind) => ({ cookie: `__Host-lw_session=${kind}`, 'sec-fetch-site': 'same-origin' }),
  'cookie from another page': (kind) => ({ cookie: `__Host-lw_session=${kind}`, 'sec-fetch-site': 'same-site' }),
  'cookie and bearer': (kind) => ({
    ...{ authorization: `Bearer ${kind}`, cookie: '__Host-lw_session=browser_session' },
    'sec-fetch-site': 'same-origin',
  }),
};

const hosts = {
  base: ['pod.example', 'POD.example:443'],
  other: ['api.pod.example', 'pod.example:8443', 'pod.example.evil.example', '10.0.0.7:8080', ''],
};

/** Everything that is not named here is `token_missing` or `token_invalid`. */
const accepted: Readonly<Record<string, string>> = {
  'browser_session cookie from our page base': 'browser_session',
  'management_access_token bearer other': 'management_access_token',
  // No address of an API takes a cookie for anything, whatever else comes with it.
  'management_access_token cookie and bearer other': 'management_access_token',
};

describe('the matrix of credentials: every kind, carrier and host', () => {
  const cells = credentialKinds.flatMap((kind) =>
    Object.keys(carriers).flatMap((carrier) => (['base', 'other'] as const).map((host) => ({ kind, carrier, host }))),
  );
  test.each(cells)('$kind by $carrier at the $host host', async ({ kind, carrier, host }) => {
    const wanted = accepted[`${kind} ${carrier} ${host}`];
    for (const name of hosts[host]) {
      const outcome = await outcomeOf({ ...carriers[carrier]!(kind), ...(name && { host: name }) });
      if (wanted) expect([name, outcome]).toEqual([name, wanted]);
      else if (carrier === 'cookie from another page' && host === 'base') expect(outcome).toBe('permission_denied');
      else expect(['token_missing', 'token_invalid']).toContain(outcome);
    }
  });
});

test('a session may read, write and read decisions, and its requests are not counted; a token has what was granted to it', async () => {
  const session = await authenticate(
    { ...carriers['cookie from our page']!('browser_session'), host: 'pod.example' },
    '',
  );
  expect([...session.scopes]).toEqual(['management:read', 'management:write', 'management:diagnostics']);
  expect([session.requestsPerMinute, session.grantId, session.clientId]).toEqual([
    undefined,
    '',
    'client of browser_session',
  ]);
  const token = await authenticate({ authorization: 'Bearer management_access_token' }, '');
  expect([[...token.scopes], token.requestsPerMinute]).toEqual([['management:read'], 60]);
});
