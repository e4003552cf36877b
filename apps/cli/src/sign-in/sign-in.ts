import { commandLineClient } from '@longwave/principal';
import * as oauth from 'oauth4webapi';
import { client, clientAuth, discover, resourceOf, type Server } from './authorization-server.ts';
import { typed } from '../command.ts';
import { listenForCallback } from './await-callback.ts';
import type { Session, SignInApi } from './session-file.ts';

/** Before this much of its life is left, an access token is renewed. */
const renewBeforeMs = 30_000;

const sessionOf = (
  { metadata }: Server,
  resource: string,
  answer: oauth.TokenEndpointResponse,
  former: Partial<Session> = {},
): Session => ({
  issuer: metadata.issuer,
  resource,
  scope: answer.scope ?? former.scope ?? '',
  access_token: answer.access_token,
  expires_at: new Date(Date.now() + (answer.expires_in ?? 0) * 1000).toISOString(),
  ...((answer.refresh_token ?? former.refresh_token) && {
    refresh_token: answer.refresh_token ?? former.refresh_token,
  }),
});

/** An error of the authorization server in its own words. */
function explained(error: unknown): Error {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    const reason = error.error_description ?? error.error;
    return new Error(`The authorization server refused: ${reason}`, { cause: error });
  }
  return error as Error;
}

/**
 * Signs in by authorization code with PKCE (RFC 7636): the person agrees in the browser, the answer comes to the registered callback. An
 * answer whose `iss` is missing, doubled or another server's ends the sign-in before the code is sent anywhere (RFC 9207).
 * @param show called with the address that the person opens
 */
export async function signIn(
  { baseUrl, api, scopes }: { readonly baseUrl: string; readonly api: SignInApi; readonly scopes: readonly string[] },
  show: (address: string) => void,
): Promise<Session> {
  const server = await discover(baseUrl);
  const resource = resourceOf(server, api);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  await using callback = await listenForCallback(state);
  const address = new URL(server.authorizationUrl);
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: commandLineClient.redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    scope: [...scopes, 'offline_access'].join(' '),
    prompt: 'consent',
    resource,
    state,
  }).toString();
  show(address.href);
  try {
    const answered = await callback.answered;
    const metadata = { ...server.metadata, authorization_response_iss_parameter_supported: true };
    const parameters = oauth.validateAuthResponse(metadata, client, answered, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server.metadata, client, clientAuth, parameters, commandLineClient.redirectUri, verifier] as const),
      { ...server.options, additionalParameters: { resource } },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server.metadata, client, response);
    callback.show('You are signed in. You can close this page.');
    return sessionOf(server, resource, tokens);
  } catch (error) {
    const isDenied = error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied';
    callback.show(isDenied ? 'Access was refused.' : 'You are not signed in. The terminal says why.');
    throw explained(error);
  }
}

/** The answer to tokens that work no more, because they expired or somebody ended the access. */
export const accessEnded = (api: SignInApi, options?: ErrorOptions) =>
  new Error(`This access was ended. Sign in again: ${typed} login --for ${api}`, options);

/** A sign-in whose access token is good for a while: this one, or one that the refresh token brings. */
export async function renew(api: SignInApi, session: Session): Promise<Session> {
  if (Date.parse(session.expires_at) - Date.now() > renewBeforeMs) return session;
  if (session.refresh_token === undefined) throw accessEnded(api);
  const server = await discover(session.issuer);
  try {
    const response = await oauth.refreshTokenGrantRequest(server.metadata, client, clientAuth, session.refresh_token, {
      ...server.options,
      additionalParameters: { resource: session.resource },
    });
    const answer = await oauth.processRefreshTokenResponse(server.metadata, client, response);
    return sessionOf(server, session.resource, answer, session);
  } catch (error) {
    const isOver = error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant';
    throw isOver ? accessEnded(api, { cause: error }) : explained(error);
  }
}

/** Ends a sign-in at the authorization server (RFC 7009): its tokens work nowhere any more. */
export async function signOut(session: Session): Promise<void> {
  const server = await discover(session.issuer);
  const token = session.refresh_token ?? session.access_token;
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server.metadata, client, clientAuth, token, server.options),
  );
}
