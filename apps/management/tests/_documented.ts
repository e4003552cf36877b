import { z } from 'zod';
import { managementOpenApi } from '../src/http/openapi.ts';
import { managementRoutes } from '../src/http/routes.ts';
import type { HttpAnswer } from './_http.ts';

interface Described {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** As `contracts/management-openapi.json` has it. */
const document = JSON.parse(JSON.stringify(managementOpenApi(managementRoutes))) as {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Record<string, Described & { $ref?: string }> }>>>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Described>>;
  };
};

/** Headers of HTTP itself, of caching and of every answer of ours: they belong to no operation. */
const general = new Set([
  ...['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-type', 'content-length', 'content-encoding'],
  ...['vary', 'cache-control', 'x-content-type-options', 'access-control-allow-origin'],
]);

const parsers = new Map<string, z.ZodType>();

/** A parser of a schema of the document; every component that it refers to is among its definitions. */
function parserOf(schema: object): z.ZodType {
  const key = JSON.stringify(schema);
  const known = parsers.get(key);
  if (known) return known;
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const local = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as Parameters<
    typeof z.fromJSONSchema
  >[0];
  const parser = z.fromJSONSchema(local);
  parsers.set(key, parser);
  return parser;
}

/**
 * What an answer has that its operation does not document: a status, a header, a field or the code of a problem; undefined when there is nothing.
 * @param path of the document, with its parameters in braces
 */
export function undocumented(method: string, path: string, answer: HttpAnswer): string | undefined {
  const at = `${method} ${path} ${answer.status}`;
  const found = document.paths[path]?.[method.toLowerCase()]?.responses[String(answer.status)];
  if (!found) return `${at}: this status is not documented`;
  const described = found.$ref ? document.components.responses[found.$ref.split('/').at(-1)!]! : found;
  const headers = new Set(Object.keys(described.headers ?? {}).map((name) => name.toLowerCase()));
  const extra = [...answer.headers.keys()].filter((name) => !headers.has(name) && !general.has(name));
  if (extra.length > 0) return `${at}: the headers ${extra.join(', ')} are not documented`;
  const mediaType = (answer.headers.get('content-type') ?? '').split(';')[0]!;
  const content = described.content?.[mediaType];
  if (!content) return answer.text === '' ? undefined : `${at}: a body of ${mediaType} is not documented`;
  const parsed = parserOf(content.schema).safeParse(answer.json ?? answer.text);
  return parsed.success
    ? undefined
    : `${at}: ${JSON.stringify(parsed.error.issues).slice(0, 400)} in ${answer.text.slice(0, 400)}`;
}
