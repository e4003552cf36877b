import { commandLineClient } from '@longwave/principal';
import * as oauth from 'oauth4webapi';
import type { SignInApi } from './session-file.ts';

/** The command line as a client: public, so it has no secret. */
export const client: oauth.Client = { client_id: commandLineClient.clientId };
export const clientAuth = oauth.None();

/** Paths by which an API is told apart among those that the authorization server protects. */
const pathOf: Readonly<Record<SignInApi, string>> = { mcp: '/mcp', management: '/management/v1' };

export interface Server {
  /** Where people sign in. */
  readonly authorizationUrl: URL;
  readonly metadata: oauth.AuthorizationServer;
  readonly options: { readonly [oauth.allowInsecureRequests]: boolean };
}

/** Whether http never leaves this machine. */
const isLoopback = ({ protocol, hostname }: URL) =>
  protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);

/**
 * The metadata of the authorization server at `{base_url}` (RFC 8414). Throws for an address that is neither https nor on this machine, that
 * of the page where people sign in too, and when the document names another issuer.
 */
export async function discover(baseUrl: string): Promise<Server> {
  const issuer = new URL(baseUrl);
  const isLocal = isLoopback(issuer);
  const isSafe = (url: URL) => url.protocol === 'https:' || (isLocal && isLoopback(url));
  if (!isSafe(issuer)) throw new Error(`${baseUrl} is not an https address.`);
  const options = { [oauth.allowInsecureRequests]: isLocal };
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  const metadata = await oauth.processDiscoveryResponse(issuer, response);
  const authorizationUrl = URL.parse(metadata.authorization_endpoint ?? '');
  if (!authorizationUrl || !isSafe(authorizationUrl))
    throw new Error(`The page for signing in at ${baseUrl} is not an https address.`);
  return { authorizationUrl, metadata, options };
}

/** The resource identifier of an API of the installation (RFC 9728 §4). */
export function resourceOf({ metadata }: Server, api: SignInApi): string {
  const resources = metadata['protected_resources'];
  const found = Array.isArray(resources)
    ? resources.find((each) => typeof each === 'string' && new URL(each).pathname === pathOf[api])
    : undefined;
  if (typeof found !== 'string') throw new Error(`${metadata.issuer} has no API “${api}”.`);
  return found;
}
