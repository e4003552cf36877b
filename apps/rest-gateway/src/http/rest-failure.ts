import type { Failure } from '@longwave/http-kit';
import { namedDetail, Problem } from '@longwave/problems';
import { usageLink } from './usage-link.ts';

/** An error answer before it is written: `{code, message, reason?}` and nothing else goes into the body. */
export interface RestError extends Failure {
  readonly message: string;
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal that only the gateway makes: credentials and blocked clients. */
export class RestFailure extends Error {
  readonly error: RestError;

  constructor(error: RestError, options?: { readonly cause: unknown }) {
    super(error.message, options);
    this.name = 'RestFailure';
    this.error = error;
  }
}

const repeatLater = 'The service is temporarily unavailable. Please repeat the request later.';
const unhandled: RestError = { status: 500, message: 'Something went wrong. Please repeat the request later.' };

/** Messages that REST v1 promises word by word: such a field error is the whole message. */
const contractTexts: ReadonlySet<string> = new Set([
  'File size exceeds the maximum allowed',
  'Unsupported content type',
  'Invalid upload idempotency key',
  'URL generation failed',
  'Wrong initiator parameter value',
]);

/** Statuses the REST API answers with; a problem of any other is our own fault. */
const restStatuses: ReadonlySet<number> = new Set([400, 402, 403, 404, 405, 409, 412, 413, 415, 422]);
/** Problems of a request that only the gateway itself can cause, since it writes the requests to management. */
const gatewayFaults: ReadonlySet<string> = new Set(['unknown_command', 'unknown_resource_type']);

/** The validation text of a 422: the promised message where there is one, else every wrong field by name. */
function validationText(problem: Problem): string {
  const { errors = [] } = problem.context;
  const fixed = errors.find(({ detail }) => contractTexts.has(detail));
  if (fixed) return fixed.detail;
  return errors.length > 0 ? errors.map(namedDetail).join(' ') : problem.message;
}

/** A domain problem in the words and statuses of REST v1. */
function problemToRest(problem: Problem): RestError {
  const { code, status, context } = problem;
  // The credential was accepted before: a statement that expired meanwhile, or clocks that differ.
  const isOutage = code === 'temporarily_unavailable' || code === 'timeout' || code === 'token_invalid';
  const retryAfter = { 'Retry-After': String(context.retryAfterSeconds ?? 1) };
  if (isOutage) return { status: 503, message: repeatLater, headers: retryAfter };
  if (code === 'rate_limited')
    return { status, message: problem.message, headers: { 'RateLimit-Remaining': '0', ...retryAfter } };
  if (gatewayFaults.has(code) || !restStatuses.has(status)) return unhandled;
  if (code === 'encoding_time_exhausted')
    return { status, message: 'Not enough encoding time left', headers: usageLink(context.neededMs) };
  if (code === 'analytics_unavailable') return { status, message: problem.message, headers: usageLink() };
  if (code === 'idempotency_in_progress') return { status, message: problem.message, headers: retryAfter };
  return { status, message: code === 'validation_failed' ? validationText(problem) : problem.message };
}

/** The answer to anything thrown. */
export function toRestError(error: unknown): RestError {
  if (error instanceof RestFailure) return error.error;
  return error instanceof Problem ? problemToRest(error) : unhandled;
}
