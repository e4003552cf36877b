import { createHash } from 'node:crypto';

/** SHA-256 (hex) of a secret of 100 random bits or more: the form in which secrets are stored and looked up. */
export const secretDigest = (text: string): string => createHash('sha256').update(text).digest('hex');
