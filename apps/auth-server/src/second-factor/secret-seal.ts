import { base64url, EncryptJWT, errors, jwtDecrypt, type JWK } from 'jose';
import { z } from 'zod';

const encryption = { alg: 'dir', enc: 'A256GCM' } as const;

/** Encrypts the secrets of second factors, each for one person. */
export interface SecretSeal {
  readonly seal: (userId: string, secret: string, expiresAt?: Date) => Promise<string>;
  /** The secret; undefined for a text that is foreign, of another person or expired, or whose key is gone. */
  readonly open: (userId: string, sealed: string, now: Date) => Promise<string | undefined>;
}

/**
 * Seals with AES-256-GCM under the first key, as a JWE that names the key (RFC 7516), and opens with each of them.
 * @param keys octet keys (RFC 7518, section 6.4), the newest first
 */
export function createSecretSeal(keys: () => readonly JWK[]): SecretSeal {
  const bytesOf = (key: JWK | undefined) => {
    if (key?.k === undefined) throw new errors.JWKSNoMatchingKey();
    return base64url.decode(key.k);
  };
  return {
    seal: async (userId, secret, expiresAt) => {
      const [key] = keys();
      const jwt = new EncryptJWT({ secret }).setSubject(userId);
      if (expiresAt) jwt.setExpirationTime(expiresAt);
      return jwt.setProtectedHeader({ ...encryption, ...(key?.kid && { kid: key.kid }) }).encrypt(bytesOf(key));
    },
    open: async (userId, sealed, now) => {
      try {
        const { payload } = await jwtDecrypt(sealed, ({ kid }) => bytesOf(keys().find((key) => key.kid === kid)), {
          keyManagementAlgorithms: [encryption.alg],
          contentEncryptionAlgorithms: [encryption.enc],
          subject: userId,
          currentDate: now,
        });
        return z.string().parse(payload['secret']);
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
