import { createHash } from 'node:crypto';

/** `prev` of a chain's first receipt. */
export const chainStart = '0'.repeat(64);

/** SHA-256 (hex) of a receipt's JWS: the next receipt's `prev`. */
export const receiptHash = (jws: string): string => createHash('sha256').update(jws).digest('hex');
