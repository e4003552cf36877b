/** The header in which S3 is told the SHA-256 of a body: the digest in base64. */
const sha256Header = 'x-amz-checksum-sha256';

/** What a client sends with the body of a PUT that was presigned for this SHA-256 (lower-case hex). */
export const checksumHeaders = (sha256: string): Readonly<Record<string, string>> => ({
  [sha256Header]: Buffer.from(sha256, 'hex').toString('base64'),
});
