import { hash } from 'node:crypto';

/** Algorithms of RFC 9530 §5 that are accepted, by their names in `Content-Digest`. */
const algorithms = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const;

const form = /^(sha-256|sha-512)=:([A-Za-z0-9+/]+={0,2}):$/;

/** The value of `Content-Digest` (RFC 9530) that a body has, by SHA-256. */
export const contentDigestOf = (body: Uint8Array): string => `sha-256=:${hash('sha256', body, 'base64')}:`;

/** True when a value of `Content-Digest` states exactly one digest, by SHA-256 or SHA-512, and the body has it. */
export function matchesContentDigest(value: string, body: Uint8Array): boolean {
  const [, algorithm, digest] = form.exec(value) ?? [];
  return algorithm !== undefined && hash(algorithms[algorithm as keyof typeof algorithms], body, 'base64') === digest;
}
