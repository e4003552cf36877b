import { isIP } from 'node:net';
import type { SemanticContext } from '@longwave/exchange-messages';
import { checkUrl, isPublicAddress } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';

/** Which addresses of files this installation fetches. */
export type FetchRules = Required<Pick<SemanticContext, 'allows' | 'fetchFault'>>;

/**
 * The rules of the guarded fetch, as far as an address alone can break them: what would never be fetched is refused with its message.
 * @param allowedOrigins that may be fetched although they are private
 */
export function createFetchRules(allowedOrigins: ReadonlySet<string>): FetchRules {
  return {
    allows: (url) => allowedOrigins.has(url.origin),
    fetchFault: (text) => {
      try {
        const { host, allowed } = checkUrl(text, allowedOrigins);
        const isPrivate = host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host));
        return isPrivate && !allowed ? 'The address is not one of the public internet.' : undefined;
      } catch (error) {
        if (error instanceof Problem) return error.message;
        throw error;
      }
    },
  };
}
