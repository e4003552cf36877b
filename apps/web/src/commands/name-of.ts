import type { Resource } from '../api/management.ts';
import { choiceName } from './words.ts';

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** What people call a resource: its name or title; else what it is about; else its id. */
export function nameOf({ attributes, id }: Pick<Resource, 'attributes' | 'id'>): string {
  const scope = attributes['scope'] as { readonly kind?: unknown } | undefined;
  const named = ['name', 'legal_name', 'title', 'vendor'].map((key) => textOf(attributes[key])).find(Boolean);
  const kind = textOf(scope?.kind) ?? textOf(attributes['kind']);
  return named ?? (kind === undefined ? `…${id.slice(-6)}` : `${choiceName(kind)} …${id.slice(-4)}`);
}
