import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { tryDecodeBase64url } from './base64url.ts';
import { isSignedBy, signBytes, type PublicKey } from './ed25519.ts';
import { keyId } from './fields.ts';
import { maxHeaderBytes, maxPayloadBytes } from './limits.ts';
import { fieldErrors, pointer, refusal, unknownField, type FieldError, type Refusal } from './refusal.ts';
import { parseStrictJson } from './strict-json.ts';

/** A signed message on the wire: a flattened JWS (RFC 7515 §7.2.2) without unprotected header. Each member is base64url without padding. */
export interface Envelope {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

const members = ['protected', 'payload', 'signature'] as const;

/** The only protected header that is accepted, but for the id of the key. */
const protectedHeader = z.strictObject({
  alg: z.literal('EdDSA'),
  kid: keyId,
  typ: z.literal('hx+json'),
  hxv: z.literal('1'),
});
export type ProtectedHeader = z.output<typeof protectedHeader>;

export type EnvelopeResult =
  | { readonly ok: true; readonly envelope: Envelope; readonly payload: Buffer }
  | Refusal<'malformed_message' | 'unknown_field' | 'payload_too_large'>;

/** Characters of base64url for so many bytes. */
const encodedLength = (bytes: number) => Math.ceil((bytes * 4) / 3);

function memberErrors(item: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  return members.flatMap((name) => {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (typeof value === 'string' && tryDecodeBase64url(value)) return [];
    const detail = `“${name}” must be text in base64url without padding.`;
    return [{ path: `${path}${pointer([name])}`, code: 'not_base64url', detail }];
  });
}

/**
 * Reads one item of a submission: its three members, and the bytes of its payload, which are at most 256 KiB.
 * @param item a value of `parseStrictJson`
 * @param path JSON Pointer of the item, for errors
 */
export function parseEnvelope(item: unknown, path = ''): EnvelopeResult {
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    return refusal('malformed_message', [{ path, code: 'not_an_object', detail: 'A message is a JSON object.' }]);
  const fields = item as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(fields).filter((name) => !(members as readonly string[]).includes(name));
  if (unknown.length > 0)
    return refusal(
      'unknown_field',
      unknown.map((name) => unknownField(path, name)),
    );
  if (typeof fields['payload'] === 'string' && fields['payload'].length > encodedLength(maxPayloadBytes)) {
    const detail = `A payload has at most ${maxPayloadBytes} bytes.`;
    return refusal('payload_too_large', [{ path: `${path}/payload`, code: 'payload_too_large', detail }]);
  }
  const errors = memberErrors(fields, path);
  if (errors.length > 0) return refusal('malformed_message', errors);
  const envelope = {
    protected: fields['protected'] as string,
    payload: fields['payload'] as string,
    signature: fields['signature'] as string,
  };
  return { ok: true, envelope, payload: Buffer.from(envelope.payload, 'base64url') };
}

export type HeaderResult =
  { readonly ok: true; readonly header: ProtectedHeader } | Refusal<'signature_profile_invalid'>;

/**
 * Reads the protected header of an envelope. Its set of members is closed, so `crit`, `jku`, `jwk`, `x5c`, `b64` and every other
 * way to choose a key or an algorithm are refused.
 * @param path JSON Pointer of the header, for errors
 */
export function parseProtectedHeader(encoded: string, path = '/protected'): HeaderResult {
  const refused = (code: string, detail: string) =>
    refusal('signature_profile_invalid', [{ path, code, detail }] as const);
  const bytes = encoded.length > encodedLength(maxHeaderBytes) ? undefined : tryDecodeBase64url(encoded);
  if (!bytes) return refused('not_base64url', `The header is base64url of at most ${maxHeaderBytes} bytes.`);
  const json = parseStrictJson(bytes, { maxDepth: 1 });
  if (!json.ok) return refused(json.fault.code, json.fault.detail);
  const parsed = protectedHeader.safeParse(json.value);
  if (parsed.success) return { ok: true, header: parsed.data };
  const errors = fieldErrors(parsed.error.issues, json.value).map((error) => ({
    ...error,
    path: `${path}${error.path}`,
  }));
  return refusal('signature_profile_invalid', errors);
}

/** The bytes that a message's signature covers (RFC 7515 §5.1). */
const signingInput = (encodedHeader: string, encodedPayload: string): Buffer =>
  Buffer.from(`${encodedHeader}.${encodedPayload}`, 'ascii');

/** Verifies the signature of a message strictly. `envelope` is what `parseEnvelope` read. */
export const isMessageSignedBy = (key: PublicKey, envelope: Envelope): boolean =>
  isSignedBy(
    key,
    signingInput(envelope.protected, envelope.payload),
    tryDecodeBase64url(envelope.signature) ?? Buffer.alloc(0),
  );

/**
 * Signs a message. Equal payloads give equal envelopes, because Ed25519 signatures are deterministic.
 * @param payload its exact bytes: JSON that `parsePayload` reads
 * @param kid id of the key under which Longwave knows the public half
 * Throws `RangeError` for a payload that is too large, another `kid` or a key of another kind.
 */
export function signMessage(payload: Uint8Array | string, privateKey: KeyObject, kid: string): Envelope {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : Buffer.from(payload);
  if (bytes.length > maxPayloadBytes) throw new RangeError(`a payload has at most ${maxPayloadBytes} bytes`);
  if (!keyId.safeParse(kid).success) throw new RangeError('kid has the form key_…');
  const header = { alg: 'EdDSA', kid, typ: 'hx+json', hxv: '1' } satisfies ProtectedHeader;
  const encodedHeader = Buffer.from(JSON.stringify(header)).toString('base64url');
  const encodedPayload = bytes.toString('base64url');
  const signature = signBytes(privateKey, signingInput(encodedHeader, encodedPayload));
  return { protected: encodedHeader, payload: encodedPayload, signature: signature.toString('base64url') };
}
