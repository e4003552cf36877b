import { Problem } from '@longwave/problems';
import type { Exchange } from './route.ts';

/** The form of our tokens in addresses; other texts are not opened. */
export const tokenShape = /^t1\.[A-Za-z0-9_-]{40,400}$/;

/** The parameter of the path, or a 404 that says no more than any other. */
export function parameter({ request }: Exchange, name: string, shape: RegExp): string {
  const value = String(request.params[name]);
  if (!shape.test(value)) throw new Problem('not_found');
  return value;
}
