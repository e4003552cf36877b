import { claimedKeyId, isRequestSigned, tryParsePublicKey, verifyRequest } from '@longwave/exchange-messages';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Request } from 'express';
import type { Redis } from 'ioredis';
import { awaitKeys, whyNotInForce } from '../authorities/machine-key-table.ts';
import type { Client } from './authenticate.ts';

/** Checks the optional signature of a request (RFC 9421). */
export type VerifySignedRequest = (request: Request, body: Uint8Array, client: Client) => Promise<void>;

const pairs = (raw: readonly string[]) =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]!] as const] : []));

/**
 * A request without a signature passes: the messages in it are signed themselves. One that has a signature is refused when it does not
 * verify, or came before. Throws `signature_profile_invalid`, `unknown_signing_key`, `key_revoked` or `signature_invalid`.
 * @param apiUrl `{api_url}`: the address that the client sees
 */
export const createVerifySignedRequest =
  (options: {
    readonly pool: Pool;
    readonly redis: Redis;
    readonly apiUrl: string;
    readonly clock: () => Date;
  }): VerifySignedRequest =>
  async (request, body, client) => {
    const { pool, redis, apiUrl, clock } = options;
    const seen = {
      method: request.method,
      url: apiUrl + request.originalUrl,
      headers: pairs(request.rawHeaders),
      body,
    };
    if (!isRequestSigned(seen)) return;
    const keyId = claimedKeyId(seen);
    const now = clock();
    const key = keyId === undefined ? undefined : (await awaitKeys(pool, client.authorityId, [keyId])).get(keyId);
    const verified = verifyRequest(seen, Math.floor(now.getTime() / 1000), () => key && tryParsePublicKey(key.x));
    if (!verified.ok) {
      const { fault, detail } = verified;
      if (fault === 'unknown_key') throw new Problem('unknown_signing_key', 'The authority has no key of that keyid.');
      const isWrong = fault === 'signature_wrong' || fault === 'digest_mismatch';
      throw new Problem(isWrong ? 'signature_invalid' : 'signature_profile_invalid', detail, { members: { fault } });
    }
    const reason = whyNotInForce(key!, now);
    if (reason !== undefined) throw new Problem('key_revoked', reason);
    const { nonce, expires } = verified.parameters;
    const lifeSeconds = Math.max(1, Math.ceil(expires - now.getTime() / 1000));
    const isFirst = await redis
      .set(`exchange:nonce:${keyId}:${nonce}`, '1', 'EX', lifeSeconds, 'NX')
      .catch((cause: unknown) => {
        throw new Problem('temporarily_unavailable', 'Signed requests cannot be checked for repetition now.', {
          cause,
          retryAfterSeconds: 1,
        });
      });
    if (isFirst === null)
      throw new Problem('signature_invalid', 'This nonce was used before. Sign each request anew.', {
        members: { fault: 'replayed' },
      });
  };
