import { takesIfMatch, type HeaderNotes, type Route } from '../route.ts';
import { deprecationNotes } from './deprecation.ts';

/** What each status means, for every route. */
export const statusNotes: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; the work goes on.',
  204: 'Done.',
  302: 'It is found at the address in Location.',
  303: 'It is found at the address in Location.',
  304: 'Unchanged since the tag in If-None-Match.',
  400: 'The body could not be read.',
  401: 'Missing or wrong credential, plan without API access, or suspended subscription.',
  402: 'Not enough encoding time left: GET /account/usage says how much is left and until when.',
  403: 'The credential may not do this.',
  404: 'The object does not exist or is not visible to the credential.',
  409: 'The idempotency key names another payload, or what it names still runs.',
  412: 'The version of the object differs from If-Match.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is neither JSON nor a form.',
  422: 'Validation failed, or the state does not allow this; the message says why.',
  429: 'Rate limit exceeded.',
  500: 'Unhandled error; repeat later.',
  503: 'A dependency is not available (repeat later), or this client is blocked.',
};

/** Every error status that a route can answer with. */
export function errorStatuses(route: Route): number[] {
  const { method, body, command, object, refusals, emptyRefusals } = route;
  const always = [401, 422, 429, 500, 503];
  const conditions = takesIfMatch(route) ? [412] : [];
  const withBody = body ? [400, 413, 415] : [];
  const writes = method === 'GET' ? [] : [403];
  const commands = command ? [409] : [];
  const found = object ? [404] : [];
  const all = [...always, ...conditions, ...withBody, ...writes, ...commands, ...found, ...refusals, ...emptyRefusals];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Headers that any answer may have; their names are those of the document's components. */
export const headerNotes = {
  'X-Request-Id': 'Names this request in the log.',
  'RateLimit-Limit': 'Requests that the credential may send per minute; absent while nothing is counted.',
  'RateLimit-Remaining': 'Requests that are left in the current minute.',
  'RateLimit-Reset': 'Epoch second at which the current minute ends.',
  'Retry-After': 'Seconds to wait before the next request.',
  'WWW-Authenticate': 'How to authenticate.',
  ETag: 'Tag of the version that the answer shows.',
  Link: 'First, previous, next and last page (RFC 8288), when a page was asked for.',
  'X-Total-Count': 'Items of all pages, when a page was asked for.',
} as const satisfies HeaderNotes;

/** `Link` of a refusal that the account's plan explains. */
const helpNote = 'Where the plan, what is left of it and until when is read: rel="help" (RFC 8288).';

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
      ...(status === 401 ? (['WWW-Authenticate'] as const) : counted),
      ...([409, 429, 503].includes(status) ? (['Retry-After'] as const) : []),
      ...(isSuccess && isVersion && (tagged || command) ? (['ETag'] as const) : []),
      ...(isSuccess && isPaged ? (['Link', 'X-Total-Count'] as const) : []),
    ],
    own: {
      ...(deprecated && deprecationNotes),
      ...(isSuccess && headers),
      ...(isOfPlan && { Link: deprecated ? `${deprecationNotes.Link} ${helpNote}` : helpNote }),
    },
  };
}
