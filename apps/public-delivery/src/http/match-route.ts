import { parse, type ParsedUrlQuery } from 'node:querystring';

const pathAndQuery = (url: URL | null): string => (url ? url.pathname + url.search : '');

/** Path and query of a request's target, which may be a whole URL (RFC 9112 §3.2). Without a path it is that of no route. */
export function splitTarget(target: string): { readonly path: string; readonly query: ParsedUrlQuery } {
  const local = target.startsWith('/') ? target : pathAndQuery(URL.parse(target));
  const [whole] = local.split('#', 1) as [string];
  const at = whole.indexOf('?');
  return at < 0 ? { path: whole, query: {} } : { path: whole.slice(0, at), query: parse(whole.slice(at + 1)) };
}

interface Match<R> {
  readonly route: R;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** Without the slash at the end, if there is one. */
const segmentsOf = (path: string): string[] => (path.endsWith('/') ? path.slice(0, -1) : path).split('/');

/** One segment of a route's path: a word, and a parameter behind it, which takes the rest. */
interface Segment {
  readonly word: string;
  readonly parameter: string | undefined;
}

function readSegment(text: string): Segment {
  const [word = '', parameter] = text.split(':');
  return { word, parameter };
}

/** Words are compared without case. */
function fits({ word, parameter }: Segment, asked: string): boolean {
  if (parameter === undefined) return asked === word || asked.toLowerCase() === word;
  return asked.length > word.length && (word === '' || asked.toLowerCase().startsWith(word));
}

/**
 * Finds the first route with the path of a request. `:name` stands for one segment or, behind a word, for its rest; a slash at the
 * end changes nothing. Throws `URIError` when a parameter cannot be decoded.
 */
export function createMatcher<R extends { readonly path: string }>(
  routes: readonly R[],
): (path: string) => Match<R> | undefined {
  const bySize = Map.groupBy(
    routes.map((route) => ({ route, segments: segmentsOf(route.path).map(readSegment) })),
    ({ segments }) => segments.length,
  );
  return (path) => {
    const asked = segmentsOf(path);
    // The target `*` has no path, and `/` has no segment.
    const candidates = path === '' ? undefined : bySize.get(asked.length);
    const found = candidates?.find(({ segments }) => segments.every((each, at) => fits(each, asked[at]!)));
    if (!found) return undefined;
    const params: Record<string, string> = {};
    for (const [at, { word, parameter }] of found.segments.entries())
      if (parameter !== undefined) params[parameter] = decodeURIComponent(asked[at]!.slice(word.length));
    return { route: found.route, params };
  };
}
