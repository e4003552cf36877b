import { z } from 'zod';

/** A system that gives line items, campaigns or creatives ids of its own, such as a buyer's ad server. */
export const externalSource = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'Write a name of small letters, digits, dots and dashes, such as “gam”.');

/** An id as another system writes it: one line without spaces around it. */
const externalId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\S(?:[^\r\n\t]*\S)?$/, 'Write the id on one line, without spaces around it.');

/** Ids of the same thing in other systems; reconciliations find it by them. */
export const externalIds = z
  .array(z.strictObject({ source: externalSource, id: externalId }))
  .max(20)
  .refine((ids) => new Set(ids.map(({ source, id }) => `${source} ${id}`)).size === ids.length, {
    message: 'Each id is named once.',
  });
