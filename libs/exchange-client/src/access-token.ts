import { importJWK, type JWK } from 'jose';
import * as oauth from 'oauth4webapi';
import { namingLosses } from './naming-losses.ts';
import { NoAnswer } from './problem.ts';
import { tokenRefusal } from './token-refusal.ts';

/** How the client proves who it is: by a secret, or by a key whose public half is registered (RFC 7523). */
export type ClientProof =
  | { readonly clientSecret: string; readonly privateKeyJwt?: never }
  /** ES256, private. */
  | { readonly privateKeyJwt: JWK; readonly clientSecret?: never };

export interface TokenOptions {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The API for which the token is: `{api_url}/hosting-exchange/v1`. */
  readonly resource: string;
  readonly proof: ClientProof;
  readonly fetch: typeof fetch;
}

/** An access token that is good for a while. */
export interface TokenSource {
  readonly get: () => Promise<string>;
  /** Forgets a token that the API has refused. */
  readonly forget: (token: string) => void;
}

const scope = 'exchange:read exchange:write';

/** A token is replaced this long before its end, so that none ends on its way. */
const renewBeforeMs = 30_000;

/** Whether http at this address never leaves this machine. */
const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);

async function clientAuth({ clientSecret, privateKeyJwt }: ClientProof): Promise<oauth.ClientAuth> {
  if (privateKeyJwt === undefined) return oauth.ClientSecretBasic(clientSecret);
  const key = await importJWK(privateKeyJwt, 'ES256');
  if (key instanceof Uint8Array) throw new Error('privateKeyJwt is no private key of ES256.');
  const { kid } = privateKeyJwt;
  return oauth.PrivateKeyJwt(kid === undefined ? key : { key, kid });
}

/**
 * Asks for tokens by client credentials (RFC 6749 §4.4, RFC 8707). Calls at the same time share one request. `get` throws what the
 * authorization server answered, or that it did not answer.
 */
export function createTokenSource(options: TokenOptions): TokenSource {
  const { tokenUrl, clientId, resource, proof } = options;
  const address = new URL(tokenUrl);
  const server = { issuer: address.origin, token_endpoint: tokenUrl };
  const client = { client_id: clientId };
  const fetchWhole = namingLosses(options.fetch, `The authorization server at ${tokenUrl}`);
  let auth: Promise<oauth.ClientAuth> | undefined;
  let known: { readonly token: string; readonly renewAt: number } | undefined;
  let asking: Promise<string> | undefined;

  async function requestToken(): Promise<oauth.TokenEndpointResponse> {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      await (auth ??= clientAuth(proof)),
      new URLSearchParams({ resource, scope }),
      { [oauth.customFetch]: fetchWhole, [oauth.allowInsecureRequests]: isLoopback(address) },
    );
    if (response.status >= 500 || response.status === 429)
      throw new NoAnswer(`The authorization server at ${tokenUrl} is busy: it answered ${response.status}.`);
    return oauth.processClientCredentialsResponse(server, client, response);
  }

  async function ask(): Promise<string> {
    const startedAt = Date.now();
    const answer = await requestToken().catch(async (cause: unknown) => {
      throw await tokenRefusal(cause, tokenUrl, proof.privateKeyJwt ? 'key' : 'secret');
    });
    const { access_token: token, expires_in: seconds = 0 } = answer;
    known = { token, renewAt: startedAt + seconds * 1000 - renewBeforeMs };
    return token;
  }

  return {
    get: async () => {
      if (known && Date.now() < known.renewAt) return known.token;
      asking ??= ask().finally(() => (asking = undefined));
      return asking;
    },
    forget: (token) => {
      if (known?.token === token) known = undefined;
    },
  };
}
