/**
 * The paths of `{base_url}` that are not the console's: everything at and below them belongs to an API or to pages of auth-server, or, below
 * `/assets`, to a file of the console's build. The console has every other path. Without a slash at the end.
 */
export const reservedPrefixes = [
  '/api',
  '/api-docs',
  '/management',
  '/oauth',
  '/.well-known',
  '/sign-in',
  '/sign-up',
  '/sign-out',
  '/settings',
  '/assets',
] as const;

/** Whether a path of `{base_url}` may be a page of the console. */
export const isConsolePath = (path: string): boolean =>
  !reservedPrefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
