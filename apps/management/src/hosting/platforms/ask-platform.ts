import { createHash } from 'node:crypto';
import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import { isProblem } from '@longwave/problems';
import { tryParseRetryAfter } from '../../workspace/webhooks/retry-schedule.ts';
import type {
  ExternalReceipt,
  Platform,
  PlatformAction,
  PlatformAnswer,
  PlatformRequest,
  PlatformStatement,
  Submission,
} from './platform.ts';

/** For names, connection, answer and body together. */
const timeoutMs = 30_000;
const maxAnswerBytes = 65_536;

/** What came of a request. */
export type PlatformOutcome =
  | (Exclude<PlatformStatement, { kind: 'conflicting' }> & { readonly receipt: ExternalReceipt })
  /** The platform may or may not have acted (`unknown`), or contradicts itself. */
  | {
      readonly kind: 'ambiguous';
      readonly ambiguity: 'unknown' | 'conflicting';
      readonly known: string;
      readonly receipt?: ExternalReceipt;
    }
  /** Nothing was taken: the same request may be sent again, if `isLasting` is false. */
  | {
      readonly kind: 'not_taken';
      readonly detail: string;
      readonly isLasting: boolean;
      readonly retryAfterMs?: number | undefined;
    };

/** SHA-256 in hex of what is sent: method, address and body. */
export const sentDigest = ({ method, url, body = '' }: PlatformRequest): string =>
  createHash('sha256').update(`${method} ${url}\n${body}`).digest('hex');

/** The connection, or its certificate, was refused before a request could go over it. */
const isUnsent = (error: unknown): boolean => {
  if (!isProblem(error, 'media_not_fetchable')) return false;
  const { code = '' } = (error.cause ?? {}) as { readonly code?: string };
  return /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|CERT_|(DEPTH_ZERO_)?SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/.test(
    code,
  );
};

/** What an answer that says nothing of the submission means. */
function outcomeOfStatus(
  title: string,
  { status }: PlatformAnswer,
  receipt: ExternalReceipt,
  retryAfterMs: number | undefined,
): PlatformOutcome {
  if (status === 401 || status === 403)
    return {
      ...{ kind: 'not_taken', isLasting: true },
      detail: `${title} refuses the key of this installation (${status}). Its operator checks key and issuer.`,
    };
  if (status === 429 || (status === 503 && retryAfterMs !== undefined))
    return {
      kind: 'not_taken',
      isLasting: false,
      retryAfterMs,
      detail: `${title} asks to try again later (${status}).`,
    };
  return {
    ...{ kind: 'ambiguous', ambiguity: 'unknown', receipt },
    known: `${title} answered with status ${status}, and its answer does not say what became of the request.`,
  };
}

/**
 * Sends one request to a platform and never throws for it. An outcome is ambiguous after a timeout, a connection that broke once something may
 * have been sent, an answer with 5xx, and one that cannot be understood: none of these is sent again. The credential is in no outcome.
 */
export async function askPlatform(
  platform: Platform,
  action: PlatformAction,
  submission: Submission,
  deps: {
    readonly fetch: GuardedFetch;
    readonly clock: () => Date;
    readonly signal: AbortSignal;
    readonly limitMs?: number;
  },
): Promise<PlatformOutcome> {
  const { fetch, clock, signal, limitMs = timeoutMs } = deps;
  const { title } = platform;
  const request = platform.request[action](submission);
  let authorization: string;
  try {
    authorization = await platform.authorize(clock());
  } catch {
    const detail = `The key for ${title} cannot be used. The operator of this installation checks the file.`;
    return { kind: 'not_taken', isLasting: true, detail };
  }
  let isConnecting = false;
  try {
    using response = await fetch(request.url, {
      ...{ method: request.method, headers: request.headers, authorization },
      ...(request.body !== undefined && {
        content: { type: 'application/json', bytes: Buffer.from(request.body) },
      }),
      ...{ maxBytes: maxAnswerBytes, timeoutMs: limitMs, idleTimeoutMs: limitMs, signal },
      onConnect: () => (isConnecting = true),
    });
    const answer = { status: response.status, body: (await readAll(response)).toString('utf8') };
    const receipt = {
      ...{ action, at: clock().toISOString(), status: answer.status, sent_sha256: sentDigest(request) },
      answered_sha256: createHash('sha256').update(answer.body).digest('hex'),
    };
    const said = answer.status < 500 ? platform.read(action, submission, answer) : undefined;
    if (!said)
      return outcomeOfStatus(title, answer, receipt, tryParseRetryAfter(response.headers['retry-after'], clock()));
    const { receiptId: id } = 'receiptId' in said ? said : {};
    const named = { ...receipt, ...(id !== undefined && { id }) };
    return said.kind === 'conflicting'
      ? { kind: 'ambiguous', ambiguity: 'conflicting', known: said.known, receipt: named }
      : { ...said, receipt: named };
  } catch (error) {
    signal.throwIfAborted();
    if (!isConnecting || isUnsent(error))
      return { kind: 'not_taken', isLasting: false, detail: `${title} could not be reached.` };
    const known = `The request was sent to ${title}, or may have been, and no answer came.`;
    return { kind: 'ambiguous', ambiguity: 'unknown', known };
  }
}
