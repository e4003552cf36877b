/** A JSON Schema, as far as the contracts use it. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** An OpenAPI 3.1 document. */
export interface HttpContract {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** What a schema says about places of a document. A place is like `/rows/[]/id`. */
interface Facts {
  readonly fields: Set<string>;
  /** Places that are always there where the place above them is. */
  readonly required: Set<string>;
  /** `place = value` of enums and constants. */
  readonly values: Set<string>;
}

const placeAbove = (place: string) => place.slice(0, place.lastIndexOf('/'));

const noFacts = (): Facts => ({ fields: new Set(), required: new Set(), values: new Set() });

/** Adds the facts of alternatives. What only some of them require is not always there; those that are no objects say nothing about that. */
function addAlternatives(facts: Facts, place: string, alternatives: readonly Facts[]): void {
  for (const { fields, values } of alternatives) {
    for (const field of fields) facts.fields.add(field);
    for (const value of values) facts.values.add(value);
  }
  for (const required of new Set(alternatives.flatMap((one) => [...one.required]))) {
    const above = placeAbove(required);
    const having = alternatives.filter(({ fields }) => (above === place ? fields.size > 0 : fields.has(above)));
    if (having.every((one) => one.required.has(required))) facts.required.add(required);
  }
}

/** Collects the facts of a schema; a schema inside itself is followed once. */
function factsOf(contract: HttpContract, content: Content | undefined): Facts {
  function collect(facts: Facts, schema: Schema, place: string, inside: readonly string[]): Facts {
    if (schema.$ref !== undefined && !inside.includes(schema.$ref)) {
      const target = contract.components?.schemas?.[schema.$ref.split('/').at(-1)!];
      if (!target) throw new Error(`${schema.$ref} is no component`);
      collect(facts, target, place, [...inside, schema.$ref]);
    }
    for (const one of schema.allOf ?? []) collect(facts, one, place, inside);
    const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
    const found = alternatives.map((one) => collect(noFacts(), one, place, inside));
    addAlternatives(facts, place, found);
    for (const value of schema.enum ?? ('const' in schema ? [schema.const] : []))
      facts.values.add(`${place} = ${JSON.stringify(value)}`);
    for (const name of schema.required ?? []) facts.required.add(`${place}/${name}`);
    const { items, additionalProperties: further } = schema;
    const parts = {
      ...schema.properties,
      ...(items && { '[]': items }),
      ...(typeof further === 'object' && { '*': further }),
    };
    for (const [name, part] of Object.entries(parts)) {
      facts.fields.add(`${place}/${name}`);
      collect(facts, part, `${place}/${name}`, inside);
    }
    return facts;
  }
  const facts = noFacts();
  for (const { schema } of Object.values(content ?? {})) if (schema) collect(facts, schema, '', []);
  return facts;
}

const without = (all: Set<string>, known: Set<string>) => [...all].filter((one) => !known.has(one));

/** The parameters that a request needs, as `query page`. */
const neededBy = ({ parameters = [] }: Operation) =>
  new Set(parameters.filter(({ required }) => required).map(({ name, in: where }) => `${where} ${name}`));

function* breaksOf(was: Operation, is: Operation, before: HttpContract, after: HttpContract): Generator<string> {
  for (const name of without(neededBy(is), neededBy(was))) yield `a request needs ${name}`;
  const [asked, asks] = [factsOf(before, was.requestBody?.content), factsOf(after, is.requestBody?.content)];
  if (is.requestBody?.required && !was.requestBody?.required) yield 'a request needs a body';
  for (const place of without(asks.required, asked.required)) {
    const above = placeAbove(place);
    if (was.requestBody && (above === '' || asked.fields.has(above))) yield `a request needs ${place}`;
  }
  for (const place of is.requestBody ? without(asked.fields, asks.fields) : [])
    yield `a request may no longer have ${place}`;
  for (const [status, { content }] of Object.entries(was.responses).filter(([code]) => /^[23]/.test(code))) {
    const answer = is.responses[status];
    if (!answer) {
      yield `${status} is not answered`;
      continue;
    }
    for (const type of Object.keys(content ?? {}))
      if (!answer.content?.[type]) yield `${status} is not answered as ${type}`;
    const [had, has] = [factsOf(before, content), factsOf(after, answer.content)];
    for (const place of without(had.fields, has.fields)) yield `${status} has no ${place}`;
    for (const place of without(had.required, has.required))
      if (has.fields.has(place)) yield `${status} may be without ${place}`;
    for (const value of without(had.values, has.values)) yield `${status} never has ${value}`;
  }
}

const majorOf = ({ info }: HttpContract) => /\d+/.exec(info.version)?.[0];

/**
 * What stops working for clients of a contract by its next form: operations, fields, and values of answers that are gone, and requests that
 * need more. A new major version may break everything.
 */
export function breakingChanges(before: HttpContract, after: HttpContract): string[] {
  if (majorOf(before) !== majorOf(after)) return [];
  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, was]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const is = after.paths[path]?.[method];
      return is ? [...breaksOf(was, is, before, after)].map((change) => `${name}: ${change}`) : [`${name} is gone`];
    }),
  );
}
