import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { Problem, problemFromView, problemView, type ProblemView } from '@longwave/problems';
import type { Failure } from './generated/longwave/call/v1/call.ts';

const trailer = 'longwave-problem-bin';

/** HTTP status → gRPC code, for gRPC clients and load balancers that do not read the problem. */
const codes: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  402: status.RESOURCE_EXHAUSTED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  409: status.ABORTED,
  412: status.FAILED_PRECONDITION,
  422: status.INVALID_ARGUMENT,
  428: status.FAILED_PRECONDITION,
  429: status.RESOURCE_EXHAUSTED,
  503: status.UNAVAILABLE,
  504: status.DEADLINE_EXCEEDED,
};

/** HTTP/2 trailers hold about 64 KB in all; of many wrong fields the first ones are enough. */
const maxFieldErrors = 50;
const maxTextLength = 2000;

/** Bounded, and well-formed: grpc-js percent-encodes it and throws on half a surrogate pair. */
const bounded = (text: string) => text.slice(0, maxTextLength).toWellFormed();

/** A problem as a gRPC status with its safe view: what a call answers that fails. */
export function toFailure(problem: Problem): Failure {
  const view = problemView(problem);
  const errors = view.errors
    ?.slice(0, maxFieldErrors)
    .map(({ path, code, detail }) => ({ path: path.slice(0, 200), code, detail: detail.slice(0, 400) }));
  const safe = { ...view, detail: bounded(view.detail), ...(errors && { errors }) };
  return {
    code: codes[problem.status] ?? status.INTERNAL,
    details: bounded(problem.message),
    problem: Buffer.from(JSON.stringify(safe)),
  };
}

/** A failure as a gRPC error, with the view of its problem in the trailer. */
export function toServiceError({ code, details, problem }: Failure): Partial<ServiceError> {
  const metadata = new Metadata();
  metadata.set(trailer, problem);
  return { code, details, metadata };
}

/** Codes without an answer of the service: it is away, or of an earlier release that does not know the method yet. */
const away: readonly status[] = [status.UNAVAILABLE, status.CANCELLED, status.UNIMPLEMENTED];

/** The problem of a failed call; transport failures become `temporarily_unavailable` or `timeout` with the cause. */
export function fromFailure({ code, problem }: Pick<Failure, 'code' | 'problem'>, cause: unknown): Problem {
  if (problem.length > 0) return problemFromView(JSON.parse(problem.toString('utf8')) as ProblemView);
  if (away.includes(code)) return new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });
  if (code === status.DEADLINE_EXCEEDED) return new Problem('timeout', undefined, { cause, retryAfterSeconds: 1 });
  return new Problem('internal_error', undefined, { cause });
}

/** The problem of a gRPC error. */
export function fromServiceError(error: ServiceError): Problem {
  const [view] = error.metadata?.get(trailer) ?? [];
  return fromFailure({ code: error.code, problem: Buffer.isBuffer(view) ? view : Buffer.alloc(0) }, error);
}
