import type { z } from 'zod';

type Valid<S extends z.ZodRawShape> = { [K in keyof S]?: NonNullable<z.output<S[K]>> };

/**
 * The fields that the catalog's schema takes, one by one: what another host allowed and we do not is left out, never a reason
 * to refuse the rest. Of lists, the items that are not acceptable are left out.
 */
export function keepValid<S extends z.ZodRawShape>(shape: S, given: Readonly<Record<string, unknown>>): Valid<S> {
  const kept: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape) as [string, z.ZodType][]) {
    const value = given[name];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const parsed = schema.safeParse(value);
    if (parsed.success) kept[name] = parsed.data;
    else if (Array.isArray(value)) {
      const items = value.filter((item) => schema.safeParse([item]).success);
      const some = schema.safeParse(items);
      if (items.length > 0 && some.success) kept[name] = some.data;
    }
  }
  return kept as Valid<S>;
}

/** An object without its undefined fields: an attribute is absent, never undefined. */
export const present = (given: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
