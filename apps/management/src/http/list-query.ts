import {
  nameAttributeOf,
  productCatalog,
  sortKeysOf,
  type Catalog,
  type ResourceDefinition,
} from '@longwave/command-catalog';
import { pageLimit } from '@longwave/command-pipeline';
import { Problem, type FieldError } from '@longwave/problems';
import { z } from 'zod';

const maxIds = 200;

/** A parameter of a page; the applied limit stands in the answer. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,15}$/, 'Send a number from 1.')
    .transform(Number)
    .refine((limit) => limit >= 1, 'Send a number from 1.')
    .transform((limit) => Math.min(limit, pageLimit.max))
    .default(pageLimit.default)
    .describe(
      `Rows of a page: ${pageLimit.default} when absent, and at most ${pageLimit.max}, which a larger number is cut to.`,
    ),
  cursor: z.string().min(1).max(4_000).optional().describe('`next_cursor` of the page before, unchanged.'),
};

/** True for the text `true`. */
export const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true');

/** Texts in one parameter, separated by commas. */
export const textList = (max: number) =>
  z
    .string()
    .min(1)
    .max(8_000)
    .transform((text) => [...new Set(text.split(','))])
    .refine((texts) => texts.length <= max, `Send at most ${max}.`);

/** What has ended with its podcast or episode is hidden from people. */
export const hiddenBelow = {
  podcasts: productCatalog.resources.podcasts.terminalStates,
  episodes: productCatalog.resources.episodes.terminalStates,
};

/** The query of every list; what it may say depends on the type, too (`listOf`). */
export const listQuery = z.strictObject({
  ...pageQuery,
  sort: z
    .string()
    .max(64)
    .default('created_at')
    .describe('A sort key of the type; “-” before it sorts downwards. The catalog says which ones are stable.'),
  state: textList(50).optional().describe('Only resources in one of these lifecycle states, separated by commas.'),
  parent: z.string().min(1).max(64).optional().describe('Only resources that link to the one with this id.'),
  ids: textList(maxIds).optional().describe(`Only resources with these ids, separated by commas; at most ${maxIds}.`),
  updated_since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .describe('Only resources whose present version is of this time or later.'),
  text: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Only resources whose name or title contains this text, in letters of either case. A page may then have fewer rows than its limit, or none, although there is a next one.',
    ),
  fields: textList(100)
    .optional()
    .describe('Only these attributes, separated by commas; everything else of a row is always there.'),
  count: flag.describe('Whether the answer says how many rows all pages have.'),
});

/** A list that is asked for. */
export type ListQuery = z.output<typeof listQuery>;

/** What a list of this type is asked for. Throws `validation_failed` for what the type does not have. */
export function checkListQuery(definition: ResourceDefinition, query: ListQuery): void {
  const errors: FieldError[] = [];
  const refuse = (parameter: keyof ListQuery, detail: string) =>
    errors.push({ path: `/query/${parameter}`, code: 'invalid_value', detail });
  const sortKeys = sortKeysOf(definition);
  if (!Object.hasOwn(sortKeys, query.sort.replace(/^-/, '')))
    refuse('sort', `Sort by ${Object.keys(sortKeys).join(', ')}, or one of them with “-” before it.`);
  if (query.state?.some((state) => !definition.states.includes(state)))
    refuse('state', `The states are ${definition.states.join(', ')}.`);
  if (query.fields?.some((field) => !Object.hasOwn(definition.attributes.shape, field)))
    refuse('fields', `The attributes are ${Object.keys(definition.attributes.shape).join(', ')}.`);
  if (query.text !== undefined && nameAttributeOf(definition) === undefined)
    refuse('text', 'Resources of this type have no name.');
  if (query.parent !== undefined && parentTypeOf(definition, query.parent) === undefined)
    refuse('parent', 'Resources of this type link to none with such an id.');
  if (errors.length > 0) throw new Problem('validation_failed', errors[0]!.detail, { errors });
}

/** The type to which an id belongs, among those that a type links to. */
export function parentTypeOf({ links }: ResourceDefinition, id: string): string | undefined {
  const { resources }: Catalog = productCatalog;
  const prefix = id.slice(0, Math.max(0, id.indexOf('_')));
  return Object.values(links).find(({ type }) => resources[type]?.prefix === prefix)?.type;
}

/** A row with some of its attributes only. */
export const withFields = <R extends { readonly attributes: Readonly<Record<string, unknown>> }>(
  row: R,
  fields: readonly string[] | undefined,
): R =>
  fields === undefined
    ? row
    : {
        ...row,
        attributes: Object.fromEntries(Object.entries(row.attributes).filter(([name]) => fields.includes(name))),
      };
