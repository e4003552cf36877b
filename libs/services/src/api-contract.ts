import { z } from 'zod';

/** The five facts of a deprecation, and what is deprecated. */
const deprecationSchema = z.strictObject({
  operation: z
    .string()
    .describe('The deprecated operation, command or resource type, by its name in the contract or the catalog.'),
  deprecated_on: z.iso.date(),
  last_supported_version: z.string().describe('The last version of the API that has it.'),
  replacement: z.string().describe('What takes its place.'),
  migration: z.string().describe('What a client changes.'),
  removal_on: z.iso.date().describe('The date on which it is removed.'),
});
export type Deprecation = Readonly<z.infer<typeof deprecationSchema>>;

const standing = z.enum(['current', 'deprecated']);

/** What each of our APIs says about itself at `/contract`. */
export const apiContractSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  status: standing,
  base_path: z.string(),
  capabilities: z
    .array(z.strictObject({ operation: z.string(), method: z.string(), path: z.string(), status: standing }))
    .describe('Every operation that is supported. One that answers and is not listed here is not.'),
  unknown_fields: z
    .strictObject({
      requests: z.strictObject({ rule: z.literal('refused'), detail: z.string() }),
      responses: z.strictObject({ rule: z.literal('optional_may_be_ignored'), detail: z.string() }),
    })
    .describe('What happens to fields that one side does not know.'),
  deprecations: z.array(deprecationSchema).describe('What is deprecated, with all five facts of each.'),
  openapi: z.string().describe('Path of the OpenAPI document.'),
  documentation: z.string().describe('Path of the interactive page.'),
});
export type ApiContract = Readonly<z.infer<typeof apiContractSchema>>;

/** The same for every API: the tests of the contracts' generators hold them to it. */
const unknownFields: ApiContract['unknown_fields'] = {
  requests: {
    rule: 'refused',
    detail: 'A field of a body that the contract does not name is refused with 422, and nothing is carried out.',
  },
  responses: {
    rule: 'optional_may_be_ignored',
    detail:
      'Fields that the contract lists as required are always there and keep their meaning. A client may ignore every other field; new ' +
      'ones are added as optional only.',
  },
};

/** An operation of an API as its contract lists it. */
interface Operation {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
}

/**
 * The contract document of an API.
 * @param api.operations all of them; those that a deprecation names are listed as deprecated
 */
export function describeApi(
  api: Pick<ApiContract, 'name' | 'version' | 'base_path' | 'openapi' | 'documentation'> & {
    readonly operations: readonly Operation[];
    readonly deprecations?: readonly Deprecation[];
  },
): ApiContract {
  const { name, version, base_path, openapi, documentation, operations, deprecations = [] } = api;
  const deprecated = new Set(deprecations.map(({ operation }) => operation));
  return {
    name,
    version,
    status: 'current',
    base_path,
    capabilities: operations.map(({ operation, method, path }) => ({
      operation,
      method,
      path,
      status: deprecated.has(operation) ? 'deprecated' : 'current',
    })),
    unknown_fields: unknownFields,
    deprecations: [...deprecations],
    openapi,
    documentation,
  };
}
