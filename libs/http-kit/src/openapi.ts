import { z } from 'zod';
import type { RoutePlace } from './mount-routes.ts';

/** A part of an OpenAPI document. */
export type OpenApiPart = Readonly<Record<string, unknown>>;

/** A schema as OpenAPI 3.1 writes it: how it reads a request (`input`), or what it answers (`output`). */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): OpenApiPart {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    ...{ io, unrepresentable: 'any' },
    // Pages that make an example of the pattern show a time in a far century.
    override: ({ jsonSchema: part }) => {
      if (part.format === 'date-time') part.examples ??= ['2026-12-01T09:00:00Z'];
    },
  });
  return rest;
}

/** The fields of an object's schema, and which of them must be there. */
export function fieldsOf(schema: z.ZodObject): {
  readonly properties: Readonly<Record<string, OpenApiPart>>;
  readonly required: readonly string[];
} {
  return { properties: {}, required: [], ...jsonSchema(schema, 'input') };
}

/** A component of the same document. */
export const reference = (kind: 'schemas' | 'headers' | 'responses', name: string): OpenApiPart => ({
  $ref: `#/components/${kind}/${name}`,
});

/** The parameters that a route's path names and its query may have; a list is named `name[]`. */
export function routeParameters({
  path,
  query = z.strictObject({}),
}: Pick<RoutePlace, 'path'> & { readonly query?: z.ZodObject }): OpenApiPart[] {
  const { properties, required } = fieldsOf(query);
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      ...{ name, in: 'path', required: true, schema: { type: 'string' } },
    })),
    ...Object.entries(properties).map(([name, schema]) => ({
      name: schema['type'] === 'array' ? `${name}[]` : name,
      in: 'query',
      required: required.includes(name),
      schema,
    })),
  ];
}

/** The beginning of every document of ours. */
export const openApiHead = (
  info: { readonly title: string; readonly version: string; readonly description?: string },
  basePath: string,
) => ({
  openapi: '3.1.1',
  info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
  servers: [{ url: basePath }],
});

/** The paths of a document: the operation of every route of a table. */
export function openApiPaths<R extends RoutePlace>(
  routes: readonly R[],
  operationOf: (route: R) => OpenApiPart,
): Record<string, OpenApiPart> {
  const paths: Record<string, OpenApiPart> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  return paths;
}
