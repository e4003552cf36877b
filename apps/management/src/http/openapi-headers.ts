import { reference, type OpenApiPart } from '@longwave/http-kit';
import { problems, type ProblemCode } from '@longwave/problems';

/** Headers that answers may have, by name. */
export const headerNotes = {
  'X-Request-Id': 'ID of this request in the log of the service; the same as `trace_id` of a problem.',
  'RateLimit-Limit': 'Requests that the client may send per minute. Missing while requests are not counted.',
  'RateLimit-Remaining': 'Requests left in the current minute.',
  'RateLimit-Reset': 'When the current minute ends, in seconds since 1970-01-01T00:00:00Z.',
  'Retry-After': 'Seconds to wait before the same request may succeed.',
  'WWW-Authenticate': 'The scope that is needed, and where the metadata of this resource are (RFC 6750, RFC 9728).',
  ETag: 'Strong entity-tag of the current version.',
} as const satisfies Readonly<Record<string, string>>;
type HeaderName = keyof typeof headerNotes;

const counters: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Refusals before the client is known. */
const uncounted = [401, 406, 415, 431];

const isPassing = (code: ProblemCode) => problems[code].retry === 'after_delay';

/** The headers of an answer: shared ones by reference, and its own with their notes. */
export function responseHeaders(answer: {
  readonly status: number;
  /** Of the refusals that have this status. */
  readonly codes: readonly ProblemCode[];
  /** Whether requests of the operation are counted. */
  readonly counted: boolean;
  readonly own: Readonly<Record<string, string>>;
}): OpenApiPart {
  const { status, codes, counted, own } = answer;
  const shared: HeaderName[] = [
    'X-Request-Id',
    ...(counted && !uncounted.includes(status) ? counters : []),
    ...(codes.some(isPassing) ? (['Retry-After'] as const) : []),
    ...(status === 401 || codes.includes('insufficient_scope') ? (['WWW-Authenticate'] as const) : []),
    ...(codes.includes('version_conflict') ? (['ETag'] as const) : []),
  ];
  return {
    ...Object.fromEntries(shared.map((name) => [name, reference('headers', name)])),
    ...Object.fromEntries(
      Object.entries(own).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
    ),
  };
}
