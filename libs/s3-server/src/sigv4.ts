import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { S3Error } from './s3-error.ts';
import { percentEncode, type RequestTarget } from './request-target.ts';

export interface S3Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
}

/** The key that signed, and the signed digest of the body. */
export interface VerifiedRequest<K extends S3Credentials> {
  readonly key: K;
  /** SHA-256 in lower-case hex; undefined when the body is not signed. */
  readonly payloadSha256: string | undefined;
}

interface Claim {
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  /** `YYYYMMDDTHHMMSSZ` */
  readonly date: string;
}

const algorithm = 'AWS4-HMAC-SHA256';
const clockSkewMs = 15 * 60_000;
const maxExpiresInSeconds = 7 * 24 * 3600;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * Checks AWS Signature Version 4 of one request, in the header or in the query (a presigned URL).
 * Every `x-amz-*` header must be signed; a presigned URL ends `X-Amz-Expires` seconds after its date.
 * @throws S3Error 400 for a malformed claim, 403 for a wrong, expired or missing one
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export function verifySignature<K extends S3Credentials>(
  request: Pick<IncomingMessage, 'method' | 'headersDistinct'>,
  target: RequestTarget,
  options: { readonly keys: readonly K[]; readonly region: string; readonly nowMs: number },
): VerifiedRequest<K> {
  const header = (name: string) => request.headersDistinct[name]?.join(',');
  const authorization = header('authorization');
  const presigned = target.query.has('X-Amz-Signature');
  if (authorization !== undefined && presigned)
    throw new S3Error(400, 'InvalidArgument', 'Only one auth mechanism allowed');
  if (authorization === undefined && !presigned) throw new S3Error(403, 'AccessDenied', 'The request is not signed');

  const claim = presigned
    ? presignedClaim(target.query, options.nowMs)
    : headerClaim(authorization ?? '', header('x-amz-date') ?? '', options.nowMs);
  const { signer, scope } = findSigner(claim, presigned, options);
  const names = claim.signedHeaders.split(';');
  if (!names.includes('host')) throw new S3Error(403, 'AccessDenied', 'The host header must be signed');
  for (const name of Object.keys(request.headersDistinct))
    if (name.startsWith('x-amz-') && !names.includes(name))
      throw new S3Error(403, 'AccessDenied', `The header ${name} was not signed`);

  const payload = claimedPayload(header('x-amz-content-sha256'), presigned);
  const canonicalHeaders = names.map((name) => {
    const value = header(name);
    if (value === undefined) throw new S3Error(403, 'SignatureDoesNotMatch', `The signed header ${name} is missing`);
    return `${name}:${value.trim().replace(/ +/g, ' ')}\n`;
  });
  const canonicalRequest = [
    request.method,
    canonicalPath(target.path),
    canonicalQuery(target.parameters),
    canonicalHeaders.join(''),
    claim.signedHeaders,
    payload,
  ].join('\n');
  // The signing key is derived from the secret by the parts of the scope.
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${signer.secretKey}`);
  const expected = hmac(key, [algorithm, claim.date, scope, sha256(canonicalRequest)].join('\n'));
  const signature = Buffer.from(claim.signature, 'hex');
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
    throw new S3Error(
      403,
      'SignatureDoesNotMatch',
      names.includes('content-length') || names.includes('x-amz-checksum-sha256')
        ? 'The signature does not match: the URL is for another body, or was changed'
        : 'The signature does not match',
    );
  return { key: signer, payloadSha256: payload === 'UNSIGNED-PAYLOAD' ? undefined : payload };
}

/** The key that the credential names, and the scope of its signature, `day/region/s3/aws4_request`. */
function findSigner<K extends S3Credentials>(
  { credential, date }: Claim,
  presigned: boolean,
  { keys, region: ownRegion }: { readonly keys: readonly K[]; readonly region: string },
): { readonly signer: K; readonly scope: string } {
  const malformed = presigned ? 'AuthorizationQueryParametersError' : 'AuthorizationHeaderMalformed';
  const [accessKey, ...scope] = credential.split('/');
  const [day, region, service, terminator, ...more] = scope;
  if (service !== 's3' || terminator !== 'aws4_request' || more.length > 0 || day !== date.slice(0, 8))
    throw new S3Error(400, malformed, 'The credential scope is not valid');
  if (region !== ownRegion) throw new S3Error(400, malformed, `The region must be ${ownRegion}`);
  const signer = keys.find((known) => known.accessKey === accessKey);
  if (!signer) throw new S3Error(403, 'InvalidAccessKeyId');
  return { signer, scope: scope.join('/') };
}

/** The signed digest of the body, or `UNSIGNED-PAYLOAD`. */
function claimedPayload(value: string | undefined, presigned: boolean): string {
  const payload = value ?? (presigned ? 'UNSIGNED-PAYLOAD' : undefined);
  if (payload === undefined) throw new S3Error(400, 'InvalidRequest', 'x-amz-content-sha256 is required');
  if (payload.startsWith('STREAMING-'))
    throw new S3Error(501, 'NotImplemented', 'Bodies in the aws-chunked encoding are not supported');
  if (payload !== 'UNSIGNED-PAYLOAD' && !/^[0-9a-f]{64}$/.test(payload))
    throw new S3Error(400, 'InvalidArgument', 'x-amz-content-sha256 is not a SHA-256');
  return payload;
}

function headerClaim(authorization: string, date: string, nowMs: number): Claim {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^\s,]+), ?SignedHeaders=([a-z0-9;_-]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (!match?.[1] || !match[2] || !match[3])
    throw new S3Error(400, 'AuthorizationHeaderMalformed', 'The authorization header is not Signature Version 4');
  const signedAtMs = parseDate(date);
  if (signedAtMs === undefined) throw new S3Error(403, 'AccessDenied', 'x-amz-date is missing or malformed');
  if (Math.abs(nowMs - signedAtMs) > clockSkewMs)
    throw new S3Error(403, 'RequestTimeTooSkewed', 'The clocks differ by more than 15 minutes');
  return { credential: match[1], signedHeaders: match[2], signature: match[3], date };
}

function presignedClaim(query: ReadonlyMap<string, string>, nowMs: number): Claim {
  const malformed = (message: string) => new S3Error(400, 'AuthorizationQueryParametersError', message);
  if (query.get('X-Amz-Algorithm') !== algorithm) throw malformed(`X-Amz-Algorithm must be ${algorithm}`);
  const credential = query.get('X-Amz-Credential') ?? '';
  const signedHeaders = query.get('X-Amz-SignedHeaders') ?? '';
  const signature = query.get('X-Amz-Signature') ?? '';
  const date = query.get('X-Amz-Date') ?? '';
  const expires = query.get('X-Amz-Expires') ?? '';
  const signedAtMs = parseDate(date);
  if (signedAtMs === undefined) throw malformed('X-Amz-Date is missing or malformed');
  if (!/^\d{1,6}$/.test(expires) || Number(expires) < 1 || Number(expires) > maxExpiresInSeconds)
    throw malformed(`X-Amz-Expires must be 1 to ${maxExpiresInSeconds} seconds`);
  if (!/^[a-z0-9;_-]+$/.test(signedHeaders)) throw malformed('X-Amz-SignedHeaders is malformed');
  if (!/^[0-9a-f]{64}$/.test(signature)) throw new S3Error(403, 'SignatureDoesNotMatch');
  if (signedAtMs > nowMs + clockSkewMs) throw new S3Error(403, 'AccessDenied', 'The request is not valid yet');
  if (nowMs > signedAtMs + Number(expires) * 1000) throw new S3Error(403, 'AccessDenied', 'The request has expired');
  return { credential, signedHeaders, signature, date };
}

function parseDate(text: string): number | undefined {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const ms = iso === text ? NaN : Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}

const canonicalPath = (path: string) => path.split('/').map(percentEncode).join('/');

function canonicalQuery(parameters: RequestTarget['parameters']): string {
  const encoded = parameters
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [percentEncode(name), percentEncode(value)] as const);
  return encoded
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}
