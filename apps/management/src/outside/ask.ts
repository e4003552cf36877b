import { readStart, type GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';

/** What a public address answered; status 0 when it did not, and why. */
export interface Answer {
  readonly status: number;
  readonly reason?: string;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

/** Asks a public address, following redirects. Never throws: no answer is an answer too. */
export type Ask = (
  url: string,
  options?: {
    readonly method?: 'GET' | 'HEAD';
    readonly headers?: Readonly<Record<string, string>>;
    /** Bytes asked for, both inclusive. */
    readonly range?: { readonly start: number; readonly end: number };
    /** Bytes of the body that are read; the rest is left. Default 0. */
    readonly maxBytes?: number;
  },
) => Promise<Answer>;

/** An answer in words, for a sentence "… answers with …". */
export const describeAnswer = ({ status, reason }: Answer): string =>
  status === 0 ? `nothing (${reason ?? 'no answer'})` : String(status);

/** Everything together, for one address. */
const timeoutMs = 15_000;

/** Asks through the guarded fetch: private networks do not answer. */
export const createAsk =
  (fetch: GuardedFetch): Ask =>
  async (url, { maxBytes = 0, range, ...request } = {}) => {
    try {
      using response = await fetch(url, {
        ...request,
        ...(range && { range: `bytes=${range.start}-${range.end}` }),
        // What is not read costs nothing, and a host that ignores a range is told apart by its status.
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
