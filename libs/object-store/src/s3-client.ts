import { Client, S3Error } from 'minio';

/** The account with which a store is used. */
export interface S3Access {
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** The client types `listParts` as protected; it is the only call for it. */
export class S3Client extends Client {
  override listParts(bucketName: string, objectName: string, uploadId: string) {
    return super.listParts(bucketName, objectName, uploadId);
  }
}

/** @throws TypeError when the endpoint is not a plain `http(s)://host[:port]` */
export function createS3Client(endpoint: string, { region, accessKey, secretKey }: S3Access): S3Client {
  const url = new URL(endpoint);
  if (!/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.username)
    throw new TypeError('An object store endpoint must be http(s)://host[:port]');
  const useSSL = url.protocol === 'https:';
  return new S3Client({
    endPoint: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (useSSL ? 443 : 80) : Number(url.port),
    useSSL,
    ...{ region, accessKey, secretKey },
    // The client would print its retries to the console.
    retryOptions: { disableRetry: true },
  });
}

export const isS3Error = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof S3Error && codes.includes(error.code ?? '');
