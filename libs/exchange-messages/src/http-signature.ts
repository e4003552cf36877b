import { createPublicKey, type KeyObject } from 'node:crypto';
import { contentDigestOf, matchesContentDigest } from './content-digest.ts';
import { isSignedBy, signBytes, type PublicKey } from './ed25519.ts';
import { maxSignatureSeconds } from './limits.ts';
import { headerLines, signatureBaseOf, type BaseResult, type HttpRequest } from './signature-base.ts';

/** The value of `tag` that binds a signature to this protocol. */
const tag = 'hosting-exchange';

/** Every signature covers these, in any order. */
const requiredComponents = ['@method', '@target-uri', '@authority', 'content-type', 'content-digest'] as const;

/** The clock of a sender may be ahead by this many seconds. */
const maxAheadSeconds = 60;

/** Parameters of a signature; times in Unix seconds. */
export interface SignatureParameters {
  readonly created: number;
  readonly expires: number;
  /** Unique for each request until it expires: 16 to 128 visible ASCII characters but `"` and `\`. */
  readonly nonce: string;
  readonly keyid: string;
}

export type SignatureFault =
  | Extract<BaseResult, { ok: false }>['fault']
  | 'unsigned'
  | 'malformed'
  | 'several_signatures'
  | 'parameter_missing'
  | 'parameter_repeated'
  | 'parameter_not_allowed'
  | 'component_missing'
  | 'component_repeated'
  | 'wrong_algorithm'
  | 'wrong_tag'
  | 'window_too_long'
  | 'not_yet_valid'
  | 'expired'
  | 'digest_mismatch'
  | 'unknown_key'
  | 'signature_wrong';

interface Refused {
  readonly ok: false;
  readonly fault: SignatureFault;
  /** A sentence for the sender. */
  readonly detail: string;
}

const refused = (fault: SignatureFault, detail: string): Refused => ({ ok: false, fault, detail });

const maxFieldCharacters = 4000;
const quoted = String.raw`"[\x20\x21\x23-\x5b\x5d-\x7e]*"`;
const labelForm = '[a-z*][a-z0-9_.*-]{0,63}';
/** A dictionary of one inner list of strings, in the form that RFC 9651 §4.1 serializes; parameters are strings or integers. */
const inputForm = new RegExp(
  String.raw`^(${labelForm})=(\(("[a-z0-9@_-]+"(?: "[a-z0-9@_-]+")*)?\)((?:;[a-z]+=(?:0|[1-9]\d{0,14}|${quoted}))*))$`,
);
const signatureForm = new RegExp(String.raw`^(${labelForm})=:([A-Za-z0-9+/]{86}==):$`);
const parameterForm = new RegExp(String.raw`;([a-z]+)=(\d+|${quoted})`, 'g');
/** The beginning of a second member in a dictionary. */
const secondMember = new RegExp(String.raw`[,\t ]${labelForm}=[(:]`);
const nonceForm = /^[\x21\x23-\x5b\x5d-\x7e]{16,128}$/;
const keyidForm = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;

interface ParsedInput {
  readonly ok: true;
  readonly components: readonly string[];
  readonly parameters: SignatureParameters;
  /** The value of `@signature-params`. */
  readonly signatureParams: string;
  readonly signature: Buffer;
}

/** The only line of a header. */
function onlyLine(request: HttpRequest, name: string): { readonly ok: true; readonly value: string } | Refused {
  const [value, ...others] = headerLines(request, name);
  if (value === undefined) return refused('unsigned', `The request has no ${name} header.`);
  if (others.length > 0 || secondMember.test(value.slice(0, maxFieldCharacters)))
    return refused('several_signatures', `The ${name} header has more than one member.`);
  return { ok: true, value: value.trim() };
}

/** Reads `created`, `expires`, `nonce`, `keyid`, `alg` and `tag`: nothing else, each once. */
function parseParameters(text: string): { readonly ok: true; readonly parameters: SignatureParameters } | Refused {
  const values = new Map<string, string>();
  for (const [, name, value] of text.matchAll(parameterForm)) {
    if (values.has(name!)) return refused('parameter_repeated', `The parameter ${name} occurs twice.`);
    values.set(name!, value!);
  }
  const extra = [...values.keys()].find(
    (name) => !['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'].includes(name),
  );
  if (extra !== undefined) return refused('parameter_not_allowed', `The parameter ${extra} is not allowed.`);
  const integer = (name: string) => (/^\d+$/.test(values.get(name) ?? '') ? Number(values.get(name)) : undefined);
  const string = (name: string) => values.get(name)?.match(/^"(.*)"$/)?.[1];
  const [created, expires, nonce, keyid] = [integer('created'), integer('expires'), string('nonce'), string('keyid')];
  if (created === undefined || expires === undefined || !nonceForm.test(nonce ?? '') || !keyidForm.test(keyid ?? ''))
    return refused('parameter_missing', 'Send created, expires, keyid, tag and a nonce of 16 to 128 characters.');
  if (values.has('alg') && string('alg') !== 'ed25519') return refused('wrong_algorithm', 'alg must be "ed25519".');
  if (string('tag') !== tag) return refused('wrong_tag', `tag must be "${tag}".`);
  return { ok: true, parameters: { created, expires, nonce: nonce!, keyid: keyid! } };
}

function parseInput(request: HttpRequest): ParsedInput | Refused {
  const input = onlyLine(request, 'signature-input');
  if (!input.ok) return input;
  const signature = onlyLine(request, 'signature');
  if (!signature.ok) return signature;
  const [, label, signatureParams, list = '', rest = ''] =
    input.value.length > maxFieldCharacters ? [] : (inputForm.exec(input.value) ?? []);
  if (label === undefined) return refused('malformed', 'Signature-Input is no list of components with parameters.');
  const [, signatureLabel, base64] = signatureForm.exec(signature.value) ?? [];
  if (signatureLabel !== label) return refused('malformed', 'Signature has not 64 bytes under the same label.');
  const bytes = Buffer.from(base64!, 'base64');
  if (bytes.toString('base64') !== base64) return refused('malformed', 'Signature is not canonical base64.');
  const parsed = parseParameters(rest);
  if (!parsed.ok) return parsed;
  const components = list === '' ? [] : list.slice(1, -1).split('" "');
  return { ok: true, components, parameters: parsed.parameters, signatureParams: signatureParams!, signature: bytes };
}

function componentFault(components: readonly string[]): Refused | undefined {
  const repeated = components.find((name, index) => components.indexOf(name) !== index);
  if (repeated !== undefined) return refused('component_repeated', `"${repeated}" is covered twice.`);
  const missing = requiredComponents.find((name) => !components.includes(name));
  if (missing !== undefined) return refused('component_missing', `The signature must cover "${missing}".`);
  return undefined;
}

function timeFault({ created, expires }: SignatureParameters, now: number): Refused | undefined {
  if (expires <= created || expires - created > maxSignatureSeconds)
    return refused('window_too_long', `expires is 1 to ${maxSignatureSeconds} s later than created.`);
  if (created > now + maxAheadSeconds) return refused('not_yet_valid', 'The signature is from the future.');
  if (expires <= now) return refused('expired', 'The signature has expired.');
  return undefined;
}

function contentFault(request: HttpRequest): Refused | undefined {
  const [type, ...types] = headerLines(request, 'content-type');
  // A receiver that joins lines leaves a comma, which no media type has outside quotes.
  if (types.length > 0 || type?.includes(',')) return refused('header_repeated', 'Send one content-type.');
  const [digest, ...digests] = headerLines(request, 'content-digest');
  if (digests.length > 0) return refused('header_repeated', 'Send one content-digest.');
  if (digest !== undefined && !matchesContentDigest(digest.trim(), request.body))
    return refused('digest_mismatch', 'Content-Digest is not one SHA-256 or SHA-512 digest of the body.');
  return undefined;
}

export type VerifiedRequest = { readonly ok: true; readonly parameters: SignatureParameters } | Refused;

/**
 * Verifies the signature of a request (RFC 9421) in the profile of this protocol: one signature by Ed25519 that covers method, address,
 * content type and digest of the body, for 300 s at most. The caller remembers each (keyid, nonce) until `expires` and refuses it again.
 * Never throws.
 * @param now Unix seconds
 * @param keyOf the key with a `keyid`, undefined when there is none
 */
export function verifyRequest(
  request: HttpRequest,
  now: number,
  keyOf: (keyid: string) => PublicKey | undefined,
): VerifiedRequest {
  const input = parseInput(request);
  if (!input.ok) return input;
  const { components, parameters, signatureParams, signature } = input;
  const fault = componentFault(components) ?? timeFault(parameters, now) ?? contentFault(request);
  if (fault) return fault;
  const covered = signatureBaseOf(request, components, signatureParams);
  if (!covered.ok) return refused(covered.fault, `The signature cannot cover "${covered.component}".`);
  const key = keyOf(parameters.keyid);
  if (!key) return refused('unknown_key', 'The keyid is not known.');
  if (!isSignedBy(key, Buffer.from(covered.base, 'ascii'), signature))
    return refused('signature_wrong', 'The signature does not fit the request.');
  return { ok: true, parameters };
}

/** True for a request with a signature, which must then be verified. */
export const isRequestSigned = (request: Pick<HttpRequest, 'headers'>): boolean =>
  request.headers.some(([name]) => ['signature', 'signature-input'].includes(name.toLowerCase()));

/** The `keyid` that a request's signature names, not yet verified; undefined when none can be read. */
export function claimedKeyId(request: HttpRequest): string | undefined {
  const input = parseInput(request);
  return input.ok ? input.parameters.keyid : undefined;
}

/**
 * The headers that sign a request: `content-digest`, `signature-input` and `signature`. The request needs a `content-type`.
 * Throws `RangeError` for parameters or a request that `verifyRequest` would refuse.
 */
export function signRequest(
  request: HttpRequest,
  privateKey: KeyObject,
  { created, expires, nonce, keyid }: SignatureParameters,
): Readonly<Record<'content-digest' | 'signature-input' | 'signature', string>> {
  const digest = contentDigestOf(request.body);
  const others = request.headers.filter(([name]) => name.toLowerCase() !== 'content-digest');
  const digested = { ...request, headers: [...others, ['content-digest', digest] as const] };
  const list = requiredComponents.map((name) => `"${name}"`).join(' ');
  const signatureParams = `(${list});created=${created};expires=${expires};nonce="${nonce}";keyid="${keyid}";alg="ed25519";tag="${tag}"`;
  const covered = signatureBaseOf(digested, requiredComponents, signatureParams);
  if (!covered.ok) throw new RangeError(`the signature cannot cover "${covered.component}": ${covered.fault}`);
  const signature = signBytes(privateKey, Buffer.from(covered.base, 'ascii')).toString('base64');
  const added = {
    'content-digest': digest,
    'signature-input': `sig1=${signatureParams}`,
    signature: `sig1=:${signature}:`,
  };
  const key = { keyObject: createPublicKey(privateKey) };
  const verified = verifyRequest({ ...request, headers: [...others, ...Object.entries(added)] }, created, () => key);
  if (!verified.ok) throw new RangeError(verified.detail);
  return added;
}
