import type { JsonSchema } from './catalog.ts';

/** A field of a command that has an option of its own: `window.start` is `--window.start`. */
export interface Field {
  /** Names from the outside in, joined by dots. */
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Which of several forms of its object has the field: "for podcasts". Absent: every one. */
  readonly condition?: string;
}

/** The forms of a value that has several. */
export const alternativesOf = ({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] => anyOf ?? oneOf ?? [];

const isPlainObject = ({ type, properties }: JsonSchema): boolean =>
  type === 'object' && properties !== undefined && Object.keys(properties).length > 0;

/** The forms of a value that are objects with known fields. */
export const objectsIn = (schema: JsonSchema): readonly JsonSchema[] =>
  isPlainObject(schema) ? [schema] : alternativesOf(schema).filter(isPlainObject);

/** One form among several, by its title or by the constant that only it has. */
function conditionOf({ title, properties }: JsonSchema): string {
  const constant = Object.values(properties ?? {}).find((each) => each.const !== undefined)?.const;
  const label = title ?? constant;
  return label === undefined
    ? 'one of several forms'
    : `for ${typeof label === 'string' ? label : JSON.stringify(label)}`;
}

/** Fields of the same name as one, which takes the values of each. */
function mergeFields(found: readonly Field[], isInEveryForm: boolean): Field {
  const { name } = found[0]!;
  const schemas = [...new Map(found.map(({ schema }) => [JSON.stringify(schema), schema])).values()];
  const conditions = [...new Set(found.map(({ condition }) => condition))];
  return {
    name,
    schema: schemas.length === 1 ? schemas[0]! : { anyOf: schemas },
    isRequired: isInEveryForm && found.every(({ isRequired }) => isRequired),
    ...(!isInEveryForm && { condition: conditions.join(' or ') }),
  };
}

function fieldsInside(schema: JsonSchema, prefix: string, isRequired: boolean): Field[] {
  const forms = objectsIn(schema);
  if (forms.length < 2) return forms.flatMap((form) => fieldsIn(form, prefix, isRequired && form === schema));
  const all = forms.map((form) =>
    fieldsIn(form, prefix, isRequired).map((field) => ({ ...field, condition: conditionOf(form) })),
  );
  const byName = Map.groupBy(all.flat(), ({ name }) => name);
  const isWhole = forms.length === Math.max(1, alternativesOf(schema).length);
  return [...byName.values()].map((found) => mergeFields(found, isWhole && found.length === forms.length));
}

/**
 * The fields of an object's schema. An object inside has an option for the whole of it, and one for each of its fields; so has a value of
 * several forms that are objects.
 */
export function fieldsIn(schema: JsonSchema, prefix = '', isParentRequired = true): Field[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const name = `${prefix}${key}`;
    const isRequired = isParentRequired && required.has(key);
    return [{ name, schema: inner, isRequired }, ...fieldsInside(inner, `${name}.`, isRequired)];
  });
}
