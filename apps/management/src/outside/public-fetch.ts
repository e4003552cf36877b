import { readStart, type GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';

/** The answer of a public address; status 0 and a reason when there was none. */
export interface Answer {
  readonly status: number;
  readonly reason?: string;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

/** Requests a public address and follows redirects. It never throws for a host: a missing answer has status 0. */
export type PublicFetch = (
  url: string,
  options?: {
    readonly method?: 'GET' | 'HEAD';
    readonly headers?: Readonly<Record<string, string>>;
    /** First and last byte, both inclusive. */
    readonly range?: { readonly start: number; readonly end: number };
    /** Bytes of the body that are read, the rest is not; default 0. */
    readonly maxBytes?: number;
  },
) => Promise<Answer>;

/** An answer in words, for a sentence "… answers with …". */
export const describeAnswer = ({ status, reason }: Answer): string =>
  status === 0 ? `nothing (${reason ?? 'no answer'})` : String(status);

/** For one address, redirects and body included. */
const timeoutMs = 15_000;

/** The same through the guarded fetch, which refuses private networks. */
export const createPublicFetch =
  (fetch: GuardedFetch): PublicFetch =>
  async (url, { maxBytes = 0, range, ...request } = {}) => {
    try {
      using response = await fetch(url, {
        ...request,
        ...(range && { range: `bytes=${range.start}-${range.end}` }),
        // A host that ignores the range is recognised by its status; the unread rest of its body costs nothing.
        maxBytes: Number.MAX_SAFE_INTEGER,
        timeoutMs,
      });
      const { status, headers } = response;
      return {
        status,
        header: (name) => headers[name],
        body: maxBytes > 0 ? await readStart(response, maxBytes) : Buffer.alloc(0),
      };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { status: 0, reason: error.message, header: () => undefined, body: Buffer.alloc(0) };
    }
  };
