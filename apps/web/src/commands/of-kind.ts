import type { Schema } from './type-forms.ts';

/**
 * The schema of a form whose fields depend on the kind that was chosen, as the rules of a policy: of their forms the one that is meant with the kind.
 * Before a kind is chosen, they are not asked for. Every other schema stays as it is.
 */
export function ofKind(schema: Schema, kind: unknown): Schema {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).filter(([, { anyOf = [] }]) =>
    anyOf.some(({ ofKind: of }) => of !== undefined),
  );
  if (fields.length === 0) return schema;
  const chosen = fields.flatMap(([name, { anyOf = [] }]) => {
    const meant = anyOf.find(({ ofKind: of }) => of === kind);
    return meant ? [[name, meant] as const] : [];
  });
  const left = new Set(fields.map(([name]) => name).filter((name) => chosen.every(([one]) => one !== name)));
  const kept = Object.entries({ ...properties, ...Object.fromEntries(chosen) }).filter(([name]) => !left.has(name));
  return { ...schema, properties: Object.fromEntries(kept), required: required.filter((name) => !left.has(name)) };
}
