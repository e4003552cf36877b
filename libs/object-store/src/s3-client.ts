import { Client, S3Error, type ClientOptions } from 'minio';
import { impatientTransport } from './impatient-transport.ts';

/** The account with which a store is used; its keys may change. */
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

/** Both keys of an account as they belong together. */
export function credentialsOf(access: S3Access): Pick<S3Access, 'accessKey' | 'secretKey'> {
  for (;;) {
    const { accessKey, secretKey } = access;
    if (access.accessKey === accessKey) return { accessKey, secretKey };
  }
}

/** Answers the keys of now before each request; the client uses nothing else of the class. */
const currentCredentials = (access: S3Access) =>
  ({
    getCredentials: async () => {
      const { accessKey, secretKey } = credentialsOf(access);
      return { getAccessKey: () => accessKey, getSecretKey: () => secretKey, getSessionToken: () => '' };
    },
  }) as unknown as NonNullable<ClientOptions['credentialsProvider']>;

/** A store that is busy sends something within this time; it is also how long a broken network goes unnoticed. */
const longestSilenceMs = 30_000;

/** @throws TypeError when the endpoint is not a plain `http(s)://host[:port]` */
export function createS3Client(endpoint: string, access: S3Access, silenceMs = longestSilenceMs): S3Client {
  const url = new URL(endpoint);
  if (!/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.username)
    throw new TypeError('An object store endpoint must be http(s)://host[:port]');
  const useSSL = url.protocol === 'https:';
  return new S3Client({
    endPoint: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (useSSL ? 443 : 80) : Number(url.port),
    useSSL,
    transport: impatientTransport(useSSL, silenceMs),
    region: access.region,
    ...credentialsOf(access),
    credentialsProvider: currentCredentials(access),
    // The client would print its retries to the console.
    retryOptions: { disableRetry: true },
  });
}

export const isS3Error = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof S3Error && codes.includes(error.code ?? '');
