import type { Deprecation } from '@longwave/services';
import type { HeaderNotes, Route } from '../route.ts';

/** The older paths: since when they are deprecated, and when they end. */
const deprecatedSince = new Date('2026-11-01T00:00:00.000Z');
const sunset = new Date('2028-11-01T00:00:00.000Z');
const onDay = (date: Date) => date.toISOString().slice(0, 10);

const successorPath = (path: string) => path.replace(/\/statistics/i, '/analytics');

/** The deprecation of an older path, with its five facts. */
export const deprecationOf = ({
  method,
  path,
  operation,
}: Pick<Route, 'method' | 'path' | 'operation'>): Deprecation => ({
  operation,
  deprecated_on: onDay(deprecatedSince),
  last_supported_version: 'v1',
  replacement: `${method} ${successorPath(path)}`,
  migration: 'Change the path only; parameters and answers are the same.',
  removal_on: onDay(sunset),
});

/** The same facts, as the operation's description in the OpenAPI document. */
export function describeDeprecation(route: Pick<Route, 'method' | 'path' | 'operation'>): string {
  const {
    deprecated_on: since,
    last_supported_version: version,
    replacement,
    migration,
    removal_on,
  } = deprecationOf(route);
  return [
    `Deprecated on ${since}.`,
    `Last supported version: REST API ${version}.`,
    `Replacement: ${replacement}.`,
    `Migration: ${migration.charAt(0).toLowerCase()}${migration.slice(1)}`,
    `Removal: ${removal_on}.`,
  ].join(' ');
}

export const deprecationNotes: HeaderNotes = {
  Deprecation: 'The date since which this path is deprecated (RFC 9745).',
  Sunset: 'The date on which this path is removed (RFC 8594).',
  Link:
    'The path that replaces this one (rel="successor-version"), and the address at which the deprecation is described ' +
    '(rel="deprecation"): its date, last supported version, replacement, migration and removal.',
};

/** The newer path, free of what would end a Link's target (RFC 8288 §3). */
const successorOf = (url: string) => successorPath(url.split('?', 1)[0]!).replace(/[<>"\s]/g, encodeURIComponent);

/** The group of an operation in the OpenAPI document: the first word of its path. */
export const tagOf = ({ path }: Pick<Route, 'path'>): string => path.split('/')[1] ?? '';

/** Headers of every answer of a deprecated path. */
export const deprecationHeaders = (
  route: Pick<Route, 'path' | 'operation'>,
  url: string,
): Readonly<Record<string, string>> => ({
  Deprecation: `@${deprecatedSince.getTime() / 1000}`,
  Sunset: sunset.toUTCString(),
  Link:
    `<${successorOf(url)}>; rel="successor-version", ` +
    `</api-docs#/${tagOf(route)}/${route.operation}>; rel="deprecation"; type="text/html"`,
});

/** The older twin of an analytics route: the same answers at `/statistics`. */
export const statisticsTwin = (route: Route): Route => ({
  ...route,
  path: route.path.replace('/analytics', '/statistics'),
  operation: `${route.operation}Older`,
  deprecated: true,
});
