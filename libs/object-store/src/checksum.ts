/** S3's header for the SHA-256 of a body, in base64. */
const sha256Header = 'x-amz-checksum-sha256';

/** The headers that a client sends with a PUT that was presigned for this SHA-256 (lower-case hex). */
export const checksumHeaders = (sha256: string): Readonly<Record<string, string>> => ({
  [sha256Header]: Buffer.from(sha256, 'hex').toString('base64'),
});
