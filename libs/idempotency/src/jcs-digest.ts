import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * SHA-256 (hex) of a JSON value in canonical form (RFC 8785, JCS): white space and the order of fields make no difference. Of a request's
 * payload it is the fingerprint of draft-ietf-httpapi-idempotency-key-header. Throws for a value that JSON cannot express.
 */
export const jcsDigest = (value: unknown): string => hash('sha256', canonicalize(value)!, 'hex');
