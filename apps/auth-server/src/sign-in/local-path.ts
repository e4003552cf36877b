/** Where a person goes on after signing in: a path of our own, never another site's address in its clothes. */
export function localPath(text: unknown, fallback = '/settings'): string {
  if (typeof text !== 'string' || !/^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(text)) return fallback;
  const base = 'http://base.invalid';
  return URL.parse(text, base)?.origin === base ? text : fallback;
}
