import { AwsV4Signer } from 'aws4fetch';
import { checksumHeaders } from './checksum.ts';
import type { PutLimits } from './port.ts';
import { createS3Client, credentialsOf, type S3Access } from './s3-client.ts';

const maxExpiresInSeconds = 7 * 24 * 3600;

/** Signs a URL of one object. Rejects with `RangeError` for a lifetime that S3 does not allow. */
type Presign = (
  method: string,
  key: string,
  limits: PutLimits,
  query?: Readonly<Record<string, string>>,
) => Promise<string>;

/** @param endpoint where clients reach the store */
export function createPresign(endpoint: string, bucket: string, access: S3Access): Presign {
  const client = createS3Client(endpoint, access);
  return async (method, key, { expiresInSeconds, sizeBytes, sha256 }, query = {}) => {
    if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > maxExpiresInSeconds)
      throw new RangeError(`A presigned URL lives 1 to ${maxExpiresInSeconds} seconds`);
    const url = await client.presignedUrl(method, bucket, key, expiresInSeconds, { ...query });
    const headers = {
      ...(sizeBytes !== undefined && { 'content-length': String(sizeBytes) }),
      ...(sha256 !== undefined && checksumHeaders(sha256)),
    };
    return Object.keys(headers).length === 0 ? url : signHeaders(url, method, headers, access);
  };
}

/** Signs a presigned URL once more, with headers that its request must have: the client cannot sign these. */
async function signHeaders(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  access: S3Access,
): Promise<string> {
  const { accessKey, secretKey } = credentialsOf(access);
  const signed = new URL(url);
  signed.searchParams.delete('X-Amz-Signature');
  const signer = new AwsV4Signer({
    method,
    url: signed.href,
    headers: { ...headers },
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    service: 's3',
    region: access.region,
    signQuery: true,
    allHeaders: true,
  });
  return (await signer.sign()).url.href;
}
