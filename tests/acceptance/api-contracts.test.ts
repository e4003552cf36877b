import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

type Part = Readonly<Record<string, unknown>>;
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Part>>>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: Part;
  readonly responses: Readonly<Record<string, Part>>;
  /** Empty: it takes no credential. */
  readonly security?: readonly unknown[];
  readonly deprecated?: boolean;
  readonly description?: string;
}

const families = ['openapi.json', 'audience-openapi.json', 'management-openapi.json'] as const;
const read = (file: string) =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../../contracts', file), 'utf8')) as Document;

describe.each(families)('contracts/%s', (file) => {
  const document = read(file);
  const operations = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${route}`, route, operation })),
  );

  const resolve = (reference: string): unknown =>
    reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((part, key) => (part as Part | undefined)?.[key], document);

  /** Every object schema with declared fields that is reached from a part, components included, each with its place. */
  function objectSchemas(part: unknown, place: string, seen = new Set<string>()): (readonly [string, Part])[] {
    if (Array.isArray(part)) return part.flatMap((each, index) => objectSchemas(each, `${place}/${index}`, seen));
    if (typeof part !== 'object' || part === null) return [];
    const { $ref: reference, allOf, ...rest } = part as Part;
    // Beside a reference the other parts only narrow it: closed, they would refuse its fields.
    if (Array.isArray(allOf)) {
      const named = allOf.filter((one) => '$ref' in (one as Part));
      return objectSchemas(named.length > 0 ? named : allOf, `${place}/allOf`, seen);
    }
    if (typeof reference === 'string') {
      if (seen.has(reference)) return [];
      seen.add(reference);
      return objectSchemas(resolve(reference), reference, seen);
    }
    const isObject = rest['type'] === 'object' && typeof rest['properties'] === 'object';
    return [
      ...(isObject ? [[place, rest] as const] : []),
      ...Object.entries(rest).flatMap(([key, value]) => objectSchemas(value, `${place}/${key}`, seen)),
    ];
  }
  const open = (schemas: readonly (readonly [string, Part])[]) =>
    schemas.filter(([, schema]) => schema['additionalProperties'] !== false).map(([place]) => place);

  test('is OpenAPI 3.1; every operation has a name of its own and a success, and a refusal where it takes a credential', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, operation } of operations) {
      const statuses = Object.keys(operation.responses);
      expect([name, statuses.some((status) => status.startsWith('2'))]).toEqual([name, true]);
      const isOpen = operation.security?.length === 0;
      expect([name, isOpen || statuses.some((status) => status.startsWith('4'))]).toEqual([name, true]);
    }
  });

  test('every reference leads to a component', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"(#\/components\/[^"]+)"/g)].map(
      ([, one]) => one!,
    );
    expect(references.length).toBeGreaterThan(0);
    expect([...new Set(references)].filter((one) => resolve(one) === undefined)).toEqual([]);
  });

  test('a path declares its parameters, and every one of them is required', () => {
    for (const { name, route, operation } of operations) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, one]) => one);
      expect([name, declared.map((parameter) => parameter.name)]).toEqual([name, inPath]);
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  test('requests refuse unknown fields: the schema of every object in a body is closed', () => {
    for (const { name, operation } of operations)
      expect([name, open(objectSchemas(operation.requestBody, name))]).toEqual([name, []]);
  });

  test('answers say of every field whether it is always there: objects are closed, and required fields exist', () => {
    for (const { name, operation } of operations) {
      const schemas = objectSchemas(operation.responses, name);
      expect([name, open(schemas)]).toEqual([name, []]);
      for (const [place, { properties, required = [] }] of schemas) {
        const unknown = (required as readonly string[]).filter((field) => !(field in (properties as Part)));
        expect([place, unknown]).toEqual([place, []]);
      }
    }
  });

  test('a deprecated operation states all five facts', () => {
    for (const { operation } of operations.filter((one) => one.operation.deprecated))
      for (const fact of ['Deprecated on', 'Last supported version', 'Replacement', 'Migration', 'Removal'])
        expect(operation.description).toContain(fact);
  });

  test('its contract document is one of its operations', () => {
    expect(Object.keys(document.paths)).toContain('/contract');
    const { properties } = document.components['schemas']!['Contract'] as { properties: Part };
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining(['version', 'status', 'capabilities', 'unknown_fields', 'deprecations']),
    );
  });
});
