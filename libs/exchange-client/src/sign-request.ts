import { randomBytes } from 'node:crypto';
import { maxSignatureSeconds, signRequest, type HttpRequest } from '@longwave/exchange-messages';
import { privateKeyOf, type SigningKey } from './message.ts';

/** The headers that sign one request (RFC 9421, RFC 9530). */
export type SignRequest = (request: HttpRequest) => Readonly<Record<string, string>>;

/** Signs each request anew, with a nonce of its own: a repetition must not look like a copy that somebody else sends. */
export const createRequestSigner =
  ({ key, now }: { readonly key: () => SigningKey; readonly now: () => Date }): SignRequest =>
  (request) => {
    const { kid, privateJwk } = key();
    const created = Math.floor(now().getTime() / 1000);
    return signRequest(request, privateKeyOf(privateJwk), {
      ...{ created, expires: created + maxSignatureSeconds, keyid: kid },
      nonce: randomBytes(16).toString('base64url'),
    });
  };
