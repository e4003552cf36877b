import type { ServerDuplexStream, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { Problem } from '@longwave/problems';
import type { CallerName } from '@longwave/services';
import { callerOf } from './tls.ts';

type AnyCall = Pick<
  ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>,
  'getAuthContext'
>;

/** Names of connections already identified; decoding a certificate costs more than most handlers. */
const knownPeers = new WeakMap<object, string | undefined>();

/** The HTTP/2 session of a call: private to grpc-js, so undefined when a version hides it elsewhere. */
const sessionOf = (call: unknown): object | undefined =>
  (call as { readonly call?: { readonly stream?: { readonly session?: object } } }).call?.stream?.session;

function readPeer(call: AnyCall): string | undefined {
  const certificate = call.getAuthContext().sslPeerCertificate as { subjectaltname?: string } | undefined;
  return callerOf(certificate?.subjectaltname);
}

/** The caller's name from the peer certificate, or undefined. */
export function peerOf(call: AnyCall): string | undefined {
  const session = sessionOf(call);
  if (session && knownPeers.has(session)) return knownPeers.get(session);
  const name = readPeer(call);
  if (session) knownPeers.set(session, name);
  return name;
}

/** The peer as a caller of a method. Throws `permission_denied` when it is not on the allow-list. */
export function allowedCaller(peer: string | undefined, allowed: readonly string[]): CallerName {
  if (peer === undefined || !allowed.includes(peer))
    throw new Problem('permission_denied', 'This service may not call this method.');
  return peer as CallerName;
}
