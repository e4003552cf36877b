import type { Resource } from '../api/management.ts';
import { currentLanguage } from '../messages/messages.ts';
import { periodText } from '../parts/period-text.ts';
import { choiceName } from './words.ts';

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** The days that a reconciliation, a statement or a run of a report is about, in its own zone. */
function periodOf(attributes: Resource['attributes']): string | undefined {
  const { period, window, time_zone: own, inputs } = attributes;
  const { start, end } = (period ?? window ?? {}) as { readonly start?: unknown; readonly end?: unknown };
  const zone = textOf(own) ?? textOf((inputs as { readonly time_zone?: unknown } | undefined)?.time_zone) ?? 'UTC';
  if (typeof start !== 'string' || typeof end !== 'string') return undefined;
  return periodText(start, end, { zone, language: currentLanguage() });
}

/** What people call a resource: its name or title; else what it is about, by its number or its days; else its id. */
export function nameOf({ attributes, id }: Pick<Resource, 'attributes' | 'id'>): string {
  const scope = attributes['scope'] as { readonly kind?: unknown } | undefined;
  const named = ['name', 'legal_name', 'title', 'vendor', 'filename', 'thumbprint']
    .map((key) => textOf(attributes[key]))
    .find(Boolean);
  if (named !== undefined) return named;
  const grantee = textOf(Object.values((attributes['grantee'] as object | undefined) ?? {})[0]);
  const role = textOf(attributes['role']);
  if (grantee !== undefined && role !== undefined) return `${grantee}: ${choiceName(role)}`;
  const kind = textOf(scope?.kind) ?? textOf(attributes['kind']);
  const { number, period } = attributes;
  const about = typeof number === 'number' ? String(number) : period === undefined ? undefined : periodOf(attributes);
  if (kind === undefined) return periodOf(attributes) ?? `…${id.slice(-6)}`;
  return about === undefined ? `${choiceName(kind)} …${id.slice(-4)}` : `${choiceName(kind)} ${about}`;
}
