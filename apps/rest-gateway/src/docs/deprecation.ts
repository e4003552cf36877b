import type { HeaderNotes, Route } from '../route.ts';

/** The older paths: since when they are deprecated, and when they end (contract, Versioning, rule 3). */
const deprecatedSince = new Date('2026-11-01T00:00:00.000Z');
const sunset = new Date('2028-11-01T00:00:00.000Z');

export const deprecationNotes: HeaderNotes = {
  Deprecation: 'Since when this path is deprecated (RFC 9745).',
  Sunset: 'When this path ends (RFC 8594).',
  Link: 'The path that replaces this one, rel="successor-version".',
};

/** The newer path, free of what would end a Link's target (RFC 8288 §3). */
const successorOf = (url: string) =>
  url
    .split('?', 1)[0]!
    .replace(/\/statistics/i, '/analytics')
    .replace(/[<>"\s]/g, encodeURIComponent);

/** Headers of every answer of a deprecated path. */
export const deprecationHeaders = (url: string): Readonly<Record<string, string>> => ({
  Deprecation: `@${deprecatedSince.getTime() / 1000}`,
  Sunset: sunset.toUTCString(),
  Link: `<${successorOf(url)}>; rel="successor-version"`,
});

/** The older twin of an analytics route: the same answers at `/statistics` (contract, Analytics). */
export const statisticsTwin = (route: Route): Route => ({
  ...route,
  path: route.path.replace('/analytics', '/statistics'),
  operation: `${route.operation}Older`,
  deprecated: true,
});
