import type { MessageKey } from '../messages/messages.ts';

/** What one field of a refused request has to be. */
export interface FieldProblem {
  /** The place in the request's body, as `path`, `pointer` or `field_path` of the answer names it. */
  readonly path: string;
  /** In English. */
  readonly message: string;
}

/** A refusal or failure of an API, or of the way to it. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** The slug of the Management API, the reason of REST v1; undefined without one. */
  readonly slug: string | undefined;
  readonly requestId: string | undefined;
  readonly fields: readonly FieldProblem[];
  /** How long to wait, by `Retry-After`, in seconds. */
  readonly retryAfterS: number | undefined;

  /** @param message the server's sentence, in English; empty when it has none */
  constructor(
    message: string,
    about: {
      readonly status: number;
      readonly slug?: string | undefined;
      readonly requestId?: string | undefined;
      readonly fields?: readonly FieldProblem[];
      readonly retryAfterS?: number | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: about.cause });
    this.status = about.status;
    this.slug = about.slug;
    this.requestId = about.requestId;
    this.fields = about.fields ?? [];
    this.retryAfterS = about.retryAfterS;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

function fieldsOf(body: Record<string, unknown>): FieldProblem[] {
  const listed = Array.isArray(body['errors']) ? (body['errors'] as unknown[]) : [body];
  return listed.filter(isObject).flatMap((entry) => {
    const path = textOf(entry['path']) ?? textOf(entry['pointer']) ?? textOf(entry['field_path']);
    const message = textOf(entry['message']) ?? textOf(entry['detail']);
    return path !== undefined && message !== undefined ? [{ path, message }] : [];
  });
}

/**
 * The problem of an answer that is no success: REST v1's `{code, message, reason}` or the Management API's problem document (RFC 9457). Whatever else
 * came, as a page of a proxy, leaves the status alone.
 */
export function problemOf(response: Response, body: unknown): ApiProblem {
  const document = isObject(body) ? body : {};
  const type = textOf(document['code']) ?? textOf(document['type'])?.split('/').at(-1);
  const retryAfterS = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiProblem(textOf(document['message']) ?? textOf(document['detail']) ?? '', {
    status: response.status,
    slug: textOf(document['reason']) ?? type,
    requestId: response.headers.get('x-request-id') ?? textOf(document['request_id']),
    fields: fieldsOf(document),
    retryAfterS: Number.isFinite(retryAfterS) ? retryAfterS : undefined,
  });
}

/** What a thrown value is as a problem; a fault of our own program has the status 0 and its text as the cause. */
export const asProblem = (error: unknown): ApiProblem =>
  error instanceof ApiProblem ? error : new ApiProblem('', { status: 0, slug: 'program_fault', cause: error });

/** The words for a problem, in the person's language. */
export interface ProblemWords {
  readonly title: MessageKey;
  /** What to do. */
  readonly help: MessageKey;
}

const wordsByStatus: Readonly<Record<number, ProblemWords>> = {
  401: { title: 'problem.signed_out', help: 'problem.signed_out_help' },
  402: { title: 'problem.plan', help: 'problem.plan_help' },
  403: { title: 'problem.not_allowed', help: 'problem.not_allowed_help' },
  404: { title: 'problem.not_found', help: 'problem.not_found_help' },
  409: { title: 'problem.conflict', help: 'problem.conflict_help' },
  412: { title: 'problem.changed', help: 'problem.changed_help' },
  422: { title: 'problem.refused', help: 'problem.refused_help' },
  429: { title: 'problem.too_often', help: 'problem.too_often_help' },
};

/** Chooses the words for a problem: by its status, because the sentence of the server says what exactly it is about. */
export function wordsFor({ status, slug }: Pick<ApiProblem, 'status' | 'slug'>): ProblemWords {
  const known = wordsByStatus[status];
  if (known) return known;
  if (slug === 'program_fault') return { title: 'problem.program', help: 'problem.program_help' };
  if (status === 0) return { title: 'problem.no_answer', help: 'problem.no_answer_help' };
  if (status >= 500) return { title: 'problem.server', help: 'problem.server_help' };
  return { title: 'problem.refused', help: 'problem.refused_help' };
}

/** Whether asking once more may help by itself: nothing came, or the server is to blame or overloaded. */
export const isPassing = ({ status, slug }: Pick<ApiProblem, 'status' | 'slug'>): boolean =>
  (status === 0 && slug !== 'program_fault') || status === 429 || status >= 500;
