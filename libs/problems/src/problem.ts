import { problems, type ProblemCode } from './problems.ts';

/** One field that is wrong: `path` is a JSON Pointer (RFC 6901). */
export interface FieldError {
  readonly path: string;
  readonly code: string;
  readonly detail: string;
}

/** The part that a provider outside the service has in a problem. */
interface ProviderPart {
  /** The provider's own reference; null when it gave none. */
  readonly external_receipt: string | null;
  /** unknown: the provider may or may not have acted. conflicting: its statements contradict each other. */
  readonly ambiguity?: 'none' | 'unknown' | 'conflicting';
}

export interface ProblemContext {
  readonly errors?: readonly FieldError[];
  readonly subject?: { readonly type: string; readonly id: string | null; readonly version: number };
  /** Entity-tag of the subject's current version, with its quotes: the `ETag` of the answer. */
  readonly etag?: string;
  readonly operationId?: string;
  readonly receiptId?: string;
  /** Address that helps to recover: of the subject, the operation or a document. */
  readonly recoveryUrl?: string;
  readonly provider?: ProviderPart;
  readonly retryAfterSeconds?: number;
  /** Encoding time that the refused work takes, in milliseconds of sound; absent when it could not be measured. */
  readonly neededMs?: number;
  /** Further members of the document, which one API alone has (RFC 9457 §3.2). They do not travel between services. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Overrides the table's status where one code has two (a stale subject.version without If-Match: 409). */
  readonly status?: number;
  /** Private; only the log sees it. */
  readonly cause?: unknown;
}

/** A failure a client may see: a code of the table and a sentence that says what to do. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly context: ProblemContext;

  constructor(code: ProblemCode, detail?: string, context: ProblemContext = {}) {
    super(detail ?? problems[code].title, context.cause === undefined ? undefined : { cause: context.cause });
    this.name = 'Problem';
    this.code = code;
    this.context = context;
  }

  /** HTTP status of this problem. */
  get status(): number {
    return this.context.status ?? problems[this.code].status;
  }
}

/** True for a problem with one of these codes. */
export const isProblem = (error: unknown, ...codes: readonly ProblemCode[]): error is Problem =>
  error instanceof Problem && codes.includes(error.code);

/** Wire form between services and, plus `instance` and `trace_id`, of `application/problem+json` (RFC 9457). */
export interface ProblemView {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly operation_id?: string;
  readonly receipt_id?: string;
  readonly provider?: ProviderPart;
  readonly subject?: { readonly type: string; readonly id: string | null; readonly version: number };
  readonly errors?: readonly FieldError[];
  readonly limit?: { readonly needed_ms: number };
  readonly retry: { readonly class: string; readonly after_seconds?: number };
  readonly recovery_url?: string;
}

/** The safe part of a problem: never the cause. */
export function problemView(problem: Problem): ProblemView {
  const { type, title, retry } = problems[problem.code];
  const { operationId, receiptId, provider, subject, errors, neededMs, retryAfterSeconds, recoveryUrl, members } =
    problem.context;
  return {
    ...members,
    type: `urn:longwave:problem:${type}`,
    title,
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    ...(operationId && { operation_id: operationId }),
    ...(receiptId && { receipt_id: receiptId }),
    ...(provider && { provider }),
    ...(subject && { subject }),
    ...(errors && { errors }),
    ...(neededMs !== undefined && { limit: { needed_ms: neededMs } }),
    retry: { class: retry, ...(retryAfterSeconds !== undefined && { after_seconds: retryAfterSeconds }) },
    ...(recoveryUrl && { recovery_url: recoveryUrl }),
  };
}

/** The problem from its wire form, for a client of another service. Unknown codes become `internal_error`. */
export function problemFromView(view: ProblemView): Problem {
  if (!Object.hasOwn(problems, view.code)) return new Problem('internal_error');
  return new Problem(view.code, view.detail, {
    status: view.status,
    ...(view.operation_id && { operationId: view.operation_id }),
    ...(view.receipt_id && { receiptId: view.receipt_id }),
    ...(view.provider && { provider: view.provider }),
    ...(view.subject && { subject: view.subject }),
    ...(view.errors && { errors: view.errors }),
    ...(view.limit && { neededMs: view.limit.needed_ms }),
    ...(view.retry.after_seconds !== undefined && { retryAfterSeconds: view.retry.after_seconds }),
  });
}
