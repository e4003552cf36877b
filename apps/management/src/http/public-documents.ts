import { describeCatalog, productCatalog, type Catalog } from '@longwave/command-catalog';
import { apiContractSchema, describeApi, type ApiContract, type Deprecation } from '@longwave/services';
import type { JWK } from 'jose';
import { z } from 'zod';

/** Name and version of the API, in its documents. */
export const apiName = 'Management API';
export const apiVersion = '1.0.0';

/** The base path on `{api_url}`. */
export const basePath = '/management/v1';

/** A document that everybody may read without a token. */
export interface PublicDocument {
  readonly operation: string;
  readonly method: 'GET';
  /** Below the base path. */
  readonly path: string;
  readonly summary: string;
  readonly body: { readonly name: string; readonly schema: z.ZodType };
}

const jsonSchemaObject = z.record(z.string(), z.unknown()).describe('JSON Schema 2020-12.');

const deprecated = z
  .strictObject({
    deprecated_on: z.iso.date(),
    last_supported_version: z.string(),
    replacement: z.string(),
    migration: z.string(),
    removal_on: z.iso.date(),
  })
  .optional()
  .describe('Absent while it is not deprecated.');

const resourceTypeSchema = z.strictObject({
  resource_type: z.string(),
  noun: z.string(),
  prefix: z.string().describe('Ids begin with it and an underscore.'),
  states: z.array(z.string()).describe('The initial one first.'),
  terminal_states: z.array(z.string()),
  attributes_schema: jsonSchemaObject,
  links: z.record(z.string(), z.strictObject({ attribute: z.string(), type: z.string() })),
  unique_attributes: z.array(z.string()),
  sort_keys: z
    .record(z.string(), z.strictObject({ stable: z.boolean() }))
    .describe('By a stable key, paging skips and repeats nothing while others write.'),
  readers: z
    .array(z.string())
    .optional()
    .describe('Roles that read it; to others there is none. Absent: whoever sees its podcast or its workspace.'),
  since: z.string().describe('The version of the API that first had it.'),
  deprecated,
});

const commandSchema = z.strictObject({
  command_type: z.string(),
  subject_type: z.string(),
  summary: z.string(),
  from: z.array(z.string()).nullable().describe('States from which it may start; null when it creates its subject.'),
  to: z
    .array(z.string())
    .nullable()
    .describe('The next state, or several of which one follows; null when the state stays.'),
  changes_schema: jsonSchemaObject,
  reason_schema: jsonSchemaObject,
  reason_required: z.boolean(),
  mode: z
    .enum(['sync', 'async'])
    .describe('sync: the first answer is final unless a review is needed. async: poll the operation.'),
  review: z.enum(['none', 'policy', 'host', 'single', 'dual']),
  reviewers: z.array(z.string()).describe('Roles that may approve.'),
  roles: z.array(z.string()).describe('Roles that may send it.'),
  party: z
    .enum(['grantee'])
    .optional()
    .describe('The person whom the subject names may send it as well, whatever its roles.'),
  cancellable: z
    .boolean()
    .describe('Whether `operation.cancel` can end its running work; a review that waits can always be withdrawn.'),
  version_guard: z.enum(['required', 'optional']).describe('Whether If-Match or subject.version must be sent.'),
  problems: z.array(z.string()).describe('Codes of problems beside those of every command.'),
  event: z.string(),
  consequences: z.array(z.string()).describe('Events of other resources that may change with the subject.'),
  external_effect: z.string().nullable(),
  disclosed_schema: jsonSchemaObject.optional().describe('What the answer alone shows.'),
  since: z.string().describe('The version of the API that first had it.'),
  deprecated,
});

const catalogSchema = z.strictObject({
  version: z.string(),
  resource_types: z.array(resourceTypeSchema),
  commands: z.array(commandSchema),
});

const keysSchema = z.strictObject({
  keys: z.array(
    z.strictObject({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string(),
      kid: z.string(),
      alg: z.literal('EdDSA'),
      use: z.literal('sig'),
    }),
  ),
});

const get = (operation: string, path: string, summary: string, name: string, schema: z.ZodType): PublicDocument => ({
  ...{ operation, path, summary },
  method: 'GET',
  body: { name, schema },
});

/** Documents about the API itself. */
export const publicDocuments = [
  get(
    'contract.read',
    '/contract',
    'Name, version, operations and deprecations of this API.',
    'Contract',
    apiContractSchema,
  ),
  get('catalog.read', '/catalog', 'Resource types and commands, as data.', 'Catalog', catalogSchema),
  get('keys.read', '/keys', 'The public keys that receipts are signed with (JWKS).', 'Keys', keysSchema),
] as const satisfies readonly PublicDocument[];

/** The deprecated resource types and commands of a catalog. */
const deprecationsOf = ({ resources, commands }: Catalog): Deprecation[] =>
  [...Object.values(resources), ...Object.values(commands)].flatMap(({ type, deprecated: facts }) =>
    facts ? [{ operation: type, ...facts }] : [],
  );

/** The contract document, derived from the operations of the API. */
export const managementContract = (
  operations: readonly { readonly operation: string; readonly method: string; readonly path: string }[],
  catalog: Catalog = productCatalog,
): ApiContract =>
  describeApi({
    name: apiName,
    version: apiVersion,
    base_path: basePath,
    openapi: `${basePath}/openapi.json`,
    documentation: `${basePath}/docs`,
    operations: [...operations, ...publicDocuments],
    deprecations: deprecationsOf(catalog),
  });

/** The catalog document. */
export const catalogDocument = (): z.input<typeof catalogSchema> =>
  catalogSchema.parse({ version: apiVersion, ...describeCatalog(productCatalog) });

/** The published keys. */
export const keysDocument = (keys: readonly JWK[]): z.input<typeof keysSchema> => keysSchema.parse({ keys });
