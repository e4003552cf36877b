type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** A value of the wire with camelCase keys. */
export type CamelCased<T> = T extends readonly (infer Each)[]
  ? readonly CamelCased<Each>[]
  : T extends object
    ? { readonly [K in keyof T as K extends string ? CamelCase<K> : K]: CamelCased<T[K]> }
    : T;

/** Renames the keys of plain JSON: snake_case as on the wire becomes camelCase. */
export function camelCased<T>(value: T): CamelCased<T>;
export function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => camelCased(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelCased(inner),
    ]),
  );
}
