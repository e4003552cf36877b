import { setTimeout as pause } from 'node:timers/promises';
import type { TokenSource } from './access-token.ts';
import { namingLosses } from './naming-losses.ts';
import type { SignRequest } from './sign-request.ts';
import { ExchangeRefusal, ExchangeUnreachable, NoAnswer, tryParseProblem } from './problem.ts';

/** How long a request is tried. */
export interface RetryOptions {
  /** Requests in all; default 8. */
  readonly attempts?: number;
  /** Wait before the second request, doubled before each further one, in milliseconds; default 500. */
  readonly firstWaitMs?: number;
  /** Longest wait, also of a longer `Retry-After`, in milliseconds; default 60,000. */
  readonly maxWaitMs?: number;
  /** Longest time without an answer to one request, in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /** Called before each wait with what went wrong, as a sentence, and the length of the wait in milliseconds. */
  readonly onWait?: (problem: string, waitMs: number) => void;
}

interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base path of the API, with its query. */
  readonly path: string;
  readonly body?: Buffer;
  readonly idempotencyKey?: string;
}

export interface SenderOptions extends RetryOptions {
  /** `{api_url}/hosting-exchange/v1` */
  readonly baseUrl: string;
  readonly tokens: TokenSource;
  readonly fetch: typeof fetch;
  /** Signs requests with a body. */
  readonly sign: SignRequest | undefined;
}

/** Sends one request until it is settled; the text of a successful answer. */
export type SendRequest = (request: ExchangeRequest) => Promise<string>;

/**
 * Answers after which the same request, with the same key, is sent again: the exchange is busy, or something in it or before it failed.
 * Such an answer does not say whether the request was carried out.
 */
const isTemporary = (status: number, code: string | undefined): boolean =>
  status >= 500 || status === 429 || code === 'idempotency_in_progress';

/** The seconds of a `Retry-After`, which may also name a date (RFC 9110 §10.2.3), in milliseconds. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number;
}

/**
 * Sends requests with a token, and again after a wait while the exchange is busy or does not answer: the same bytes with the same
 * idempotency key, so that nothing happens twice. Throws `ExchangeRefusal` for a refusal, `ExchangeUnreachable` when every request
 * stayed without a final answer.
 */
export function createSender(options: SenderOptions): SendRequest {
  const { baseUrl, tokens, attempts = 8, firstWaitMs = 500, maxWaitMs = 60_000, timeoutMs = 30_000 } = options;
  const fetchWhole = namingLosses(options.fetch, `The exchange at ${baseUrl}`);

  async function sendOnce({ method, path, body, idempotencyKey }: ExchangeRequest, token: string): Promise<Answer> {
    const url = `${baseUrl}${path}`;
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    const signature = body && options.sign?.({ method, url, headers: Object.entries(headers), body });
    const response = await fetchWhole(url, {
      method,
      redirect: 'error',
      headers: { ...headers, ...signature },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body && { body: new Uint8Array(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, retryAfterMs: retryAfterMs(response.headers.get('retry-after')) };
  }

  /** A token may end, or its key be replaced, between two requests: a refused one is renewed once. */
  async function sendWithToken(request: ExchangeRequest): Promise<Answer> {
    const token = await tokens.get();
    const answer = await sendOnce(request, token);
    if (answer.status !== 401) return answer;
    tokens.forget(token);
    return sendOnce(request, await tokens.get());
  }

  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await sendWithToken(request).catch((error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error;
        return error;
      });
      if (!(answer instanceof NoAnswer)) {
        if (answer.status < 300) return answer.text;
        const problem = tryParseProblem(answer.text);
        if (!isTemporary(answer.status, problem?.code)) {
          if (problem) throw new ExchangeRefusal(problem);
          throw new ExchangeUnreachable(
            `${baseUrl} is no Hosting Exchange: it answered ${answer.status} without a problem.`,
            answer.status,
          );
        }
      }
      const [reason, status] =
        answer instanceof NoAnswer
          ? [answer.message]
          : [`The exchange at ${baseUrl} is busy: it answered ${answer.status}.`, answer.status];
      if (attempt >= attempts)
        throw new ExchangeUnreachable(reason, status, answer instanceof NoAnswer ? answer : undefined);
      // Half of the wait is random: clients that were refused together come back apart.
      const backoff = firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
      const asked = answer instanceof NoAnswer ? 0 : answer.retryAfterMs;
      const waitMs = Math.min(Math.max(backoff, asked), maxWaitMs);
      options.onWait?.(reason, waitMs);
      await pause(waitMs);
    }
  };
}
