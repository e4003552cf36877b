import type { Visit } from '../http/page-route.ts';
import { html, type Html } from '../pages/html.ts';

/** Where a person goes on after signing in, to the web application unless said: a path of our own, never another site's address in its clothes. */
export function localPath(text: unknown, fallback = '/'): string {
  if (typeof text !== 'string' || !/^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(text)) return fallback;
  const base = 'http://base.invalid';
  return URL.parse(text, base)?.origin === base ? text : fallback;
}

/** The path at which a visit goes on. */
export const returnToOf = ({ request, texts }: Visit): string =>
  localPath(texts['return_to'] ?? request.query['return_to']);

/** The hidden field that keeps it in a form. */
export const returnField = (visit: Visit): Html =>
  html`<input type="hidden" name="return_to" value="${returnToOf(visit)}" />`;

/** An address that keeps it. */
export const withReturn = (path: string, returnTo: string): string =>
  `${path}?return_to=${encodeURIComponent(returnTo)}`;
