import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { EvidenceRow } from './bodies/platform-evidence.ts';

/** `sha256:` and the lower-case hex of SHA-256. */
export const sha256Digest = (content: Uint8Array | string): string => `sha256:${hash('sha256', content, 'hex')}`;

/**
 * Identity of a message: SHA-256 of its signing input (RFC 7515 §5.1), and so independent of the bytes of the signature.
 * @param protectedHeader base64url, as the envelope has it
 * @param payload base64url, as the envelope has it
 */
export const messageDigestOf = (protectedHeader: string, payload: string): string =>
  sha256Digest(Buffer.from(`${protectedHeader}.${payload}`, 'ascii'));

/** `rows_digest` of inline rows: SHA-256 of their canonical form (RFC 8785). */
export const rowsDigestOf = (rows: readonly EvidenceRow[]): string => sha256Digest(canonicalize(rows)!);
