import { Problem } from '@longwave/problems';
import type { Exchange } from './route.ts';

/** The form of delivery tokens; other texts are not opened. */
export const tokenShape = /^t1\.[A-Za-z0-9_-]{40,400}$/;

/** SHA-256 in lower-case hex. */
export const digestShape = /^[0-9a-f]{64}$/;

/** The last part of a podcast's addresses. */
export const subdomainShape = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const episodeIdShape = /^ep_[0-9a-hjkmnp-tv-z]{26}$/;

/** A parameter of the path. Throws `not_found` when it has another shape. */
export function parameter({ params }: Exchange, name: string, shape: RegExp): string {
  const value = String(params[name]);
  if (!shape.test(value)) throw new Problem('not_found');
  return value;
}

/** What the token in the path names. Throws `not_found`, always the same, for one that does not open. */
export function openedToken<O>(exchange: Exchange, open: (token: string, at: Date) => O | undefined): O {
  const opened = open(parameter(exchange, 'token', tokenShape), exchange.startedAt);
  if (!opened) throw new Problem('not_found');
  return opened;
}
