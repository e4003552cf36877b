import type { ResourceView } from '@longwave/events';

/** Strong ETag of a revision (RFC 9110 §8.8.3), the form that management's `If-Match` takes. */
export const etagOf = ({ version, digest }: Pick<ResourceView, 'version' | 'digest'>): string =>
  `"${version}.${digest.slice(0, 16)}"`;

/** Whether `If-None-Match` names the tag; weak comparison (RFC 9110 §13.1.2). */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
