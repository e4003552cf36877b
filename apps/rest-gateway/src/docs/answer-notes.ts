import { takesIfMatch, type HeaderNotes, type Route } from '../route.ts';
import { deprecationNotes } from './deprecation.ts';

/** The meaning of each status, for every route. */
export const statusNotes: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted. The work continues after this answer.',
  204: 'Done.',
  302: 'The answer is at the address in Location.',
  303: 'The answer is at the address in Location.',
  304: 'Unchanged: If-None-Match names the current ETag.',
  400: 'The body could not be read.',
  401: 'Missing or wrong credential, plan without API access, or suspended subscription.',
  402: 'Not enough encoding time is left. GET /account/usage shows how much is left and when the period ends.',
  403: 'The credential does not have the permission for this, or the access token lacks the scope that WWW-Authenticate names.',
  404: 'The object does not exist or is not visible to the credential.',
  409: 'The idempotency key was used with another payload, or the same work is still running.',
  412: 'The object has changed: If-Match does not name its current version.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is neither JSON nor a form.',
  422: 'Validation failed, or the state of the object does not allow this. The message says why.',
  429: 'Rate limit exceeded.',
  500: 'Unexpected error. Try again later.',
  503: 'A part of the service is not available (try again later), or this client is blocked.',
};

/** Every error status that a route can answer with. */
export function errorStatuses(route: Route): number[] {
  const { body, command, object, refusals, emptyRefusals } = route;
  const always = [401, 403, 422, 429, 500, 503];
  const conditions = takesIfMatch(route) ? [412] : [];
  const withBody = body ? [400, 413, 415] : [];
  const commands = command ? [409] : [];
  const found = object ? [404] : [];
  const all = [...always, ...conditions, ...withBody, ...commands, ...found, ...refusals, ...emptyRefusals];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Headers that any answer may have; their names are those of the document's components. */
export const headerNotes = {
  'X-Request-Id': 'ID of this request in the log of the service. Name it when you report a problem.',
  'RateLimit-Limit': 'Requests that the credential may send per minute. Missing while requests are not counted.',
  'RateLimit-Remaining': 'Requests left in the current minute.',
  'RateLimit-Reset': 'When the current minute ends, in seconds since 1970-01-01T00:00:00Z.',
  'Retry-After': 'Seconds to wait before the next request.',
  'WWW-Authenticate': 'How to authenticate.',
  ETag: 'Identifies the version in this answer, for If-Match and If-None-Match.',
  Link: 'Addresses of the first, previous, next and last page (RFC 8288), when a page was requested.',
  'X-Total-Count': 'Number of items on all pages, when a page was requested.',
} as const satisfies HeaderNotes;

/** `Link` of a refusal that the account's plan explains. */
const helpNote = 'The address of GET /account/usage, with rel="help" (RFC 8288): it shows what is left of the plan.';

type HeaderName = keyof typeof headerNotes;

const always: readonly HeaderName[] = ['X-Request-Id'];
const counted: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Headers of an answer: those of every route by name, and those of its own with their notes. */
export function headersOf(
  route: Route,
  status: number,
): { readonly shared: readonly HeaderName[]; readonly own: HeaderNotes } {
  const { answer, tagged, command, deprecated, headers, refusals } = route;
  const isSuccess = status < 400;
  const isVersion = typeof answer === 'object' && answer.versioned === true && !answer.list;
  const isOfPlan = status === 402 || (status === 403 && refusals.includes(403));
  const isPaged = typeof answer === 'object' && Boolean(answer.list);
  return {
    shared: [
      ...always,
      ...(status === 401 ? [] : counted),
      ...(status === 401 || status === 403 ? (['WWW-Authenticate'] as const) : []),
      ...([409, 429, 503].includes(status) ? (['Retry-After'] as const) : []),
      ...(isSuccess && isVersion && (tagged || command) ? (['ETag'] as const) : []),
      ...(isSuccess && isPaged ? (['Link', 'X-Total-Count'] as const) : []),
    ],
    own: {
      ...(deprecated && deprecationNotes),
      ...(isSuccess && headers),
      ...(isOfPlan && { Link: deprecated ? `${deprecationNotes['Link']} ${helpNote}` : helpNote }),
    },
  };
}
