import type { ResourceDefinition, SortKey, TimeSortKey } from './definition.ts';

/** Sort keys of every type. */
const commonKeys = {
  created_at: { stable: true },
  updated_at: { stable: false },
  state: { stable: false },
} as const satisfies Readonly<Record<string, SortKey>>;

/** Attributes that name a resource, in the order in which SQL function `name_of` looks for them. */
const nameAttributes = ['name', 'title', 'legal_name', 'filename'] as const;

/** The attribute by which people know resources of a type: the text filter and the sort key `name` read it. Undefined for types without. */
export const nameAttributeOf = ({
  attributes,
}: Pick<ResourceDefinition, 'attributes'>): (typeof nameAttributes)[number] | undefined =>
  nameAttributes.find((name) => Object.hasOwn(attributes.shape, name));

/** Every sort key of a type by its name; `-` before the name sorts downwards. */
export function sortKeysOf(
  definition: Pick<ResourceDefinition, 'attributes' | 'sortKeys'>,
): Readonly<Record<string, SortKey | TimeSortKey>> {
  return {
    ...commonKeys,
    ...(nameAttributeOf(definition) !== undefined && { name: { stable: false } }),
    ...definition.sortKeys,
  };
}
