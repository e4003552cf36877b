import {
  isForPeople,
  needsReason,
  operations,
  productCatalog,
  reasonSchemaOf,
  type CommandDefinition,
  type ResourceDefinition,
} from '@longwave/command-catalog';
import { ifMatchForm } from '@longwave/command-pipeline';
import {
  jsonSchema,
  openApiHead,
  openApiPaths,
  problemSchema,
  protectedResourcePath,
  reference,
  routeParameters,
  type OpenApiPart,
  type RoutePlace,
} from '@longwave/http-kit';
import { idempotencyKeyPattern } from '@longwave/idempotency';
import { sessionCookie } from '@longwave/principal';
import { problems, type ProblemCode } from '@longwave/problems';
import { z } from 'zod';
import type { ManagementRoute } from './management-route.ts';
import { headerNotes, responseHeaders } from './openapi-headers.ts';
import { apiName, apiVersion, basePath, publicDocuments, type PublicDocument } from './public-documents.ts';

/** Refusals of every request with a token. */
const everywhere: readonly ProblemCode[] = [
  ...(['token_missing', 'token_invalid', 'insufficient_scope', 'rate_limited', 'not_acceptable'] as const),
  ...(['validation_failed', 'headers_too_large', 'temporarily_unavailable', 'timeout', 'internal_error'] as const),
];

/** Statuses that a code may have beside that of the table. */
const otherStatuses: Readonly<Partial<Record<ProblemCode, number>>> = { version_conflict: 409 };

/** The codes of refusals by status. */
function byStatus(codes: readonly ProblemCode[]): ReadonlyMap<number, readonly ProblemCode[]> {
  const found = new Map<number, ProblemCode[]>();
  for (const code of [...new Set(codes)].sort())
    for (const status of [problems[code].status, otherStatuses[code]])
      if (status !== undefined) found.set(status, [...(found.get(status) ?? []), code]);
  return new Map([...found].sort(([a], [b]) => a - b));
}

/** The name of a refusal among the components: its status and codes; those of documents are not counted. */
const refusalName = (status: number, codes: readonly ProblemCode[], counted: boolean) =>
  [counted ? 'refusal' : 'uncounted', status, ...codes].join('.');

/** The refusals of an operation, by reference: most operations share them. */
const refusals = (codes: readonly ProblemCode[], counted: boolean) =>
  Object.fromEntries(
    [...byStatus(codes)].map(([status, each]) => [status, reference('responses', refusalName(status, each, counted))]),
  );

/** A problem with one of these codes. The second part only narrows the first, which says what the object is. */
const problemOf = (codes: readonly ProblemCode[]): OpenApiPart => ({
  allOf: [reference('schemas', 'Problem'), { type: 'object', properties: { code: { enum: codes } } }],
});

/** The same refusals, as components. */
const refusalComponents = (codes: readonly ProblemCode[], counted: boolean) =>
  Object.fromEntries(
    [...byStatus(codes)].map(([status, each]) => [
      refusalName(status, each, counted),
      {
        description: each.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
        headers: responseHeaders({ status, codes: each, counted, own: {} }),
        content: { 'application/problem+json': { schema: problemOf(each) } },
      },
    ]),
  );

const answersOf = ({ answers, scope }: Pick<ManagementRoute, 'answers' | 'scope'>) =>
  Object.fromEntries(
    Object.entries(answers).map(([status, { description, body, mediaType = 'application/json', headers = {} }]) => [
      status,
      {
        description,
        headers: responseHeaders({ status: Number(status), codes: [], counted: scope !== null, own: headers }),
        ...(body && { content: { [mediaType]: { schema: reference('schemas', body.name) } } }),
      },
    ]),
  );

const schemasOfHeaders: Readonly<Record<string, OpenApiPart>> = {
  'Idempotency-Key': { type: 'string', pattern: idempotencyKeyPattern.source },
  'If-Match': { type: 'string', pattern: ifMatchForm.source },
};

const headerParameters = ({ headers = {} }: Pick<ManagementRoute, 'headers'>) =>
  Object.entries(headers).map(([name, { description, required = false }]) => ({
    ...{ name, in: 'header', required, description },
    schema: schemasOfHeaders[name] ?? { type: 'string' },
  }));

const isInWorkspace = ({ path }: RoutePlace) => path.includes('{workspace_id}');

/** The group of an operation: the word before the dot. */
const tagOf = ({ operation }: Pick<ManagementRoute, 'operation'>): string => operation.split('.')[0]!;

/** Every code with which an operation may be refused. */
const codesOf = (route: ManagementRoute): readonly ProblemCode[] => [
  ...(route.scope === null ? everywhere.slice(3) : everywhere),
  ...(isInWorkspace(route) ? (['not_found'] as const) : []),
  ...route.refusals,
];

function needsOf({ scope, sessionOnly }: ManagementRoute): string {
  if (sessionOnly) return 'Needs the session of a browser.';
  return scope === null ? 'Needs no token.' : `Needs the scope \`${scope}\`.`;
}

function operationOf(route: ManagementRoute): OpenApiPart {
  const { operation, summary, note, scope, sessionOnly, body } = route;
  return {
    operationId: operation,
    tags: [tagOf(route)],
    summary,
    description: [needsOf(route), note].filter(Boolean).join(' '),
    security: sessionOnly ? [{ session: [] }] : scope === null ? [] : [{ bearer: [scope] }],
    parameters: [...routeParameters(route), ...headerParameters(route)],
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: reference('schemas', body.name) } } },
    }),
    responses: { ...answersOf(route), ...refusals(codesOf(route), scope !== null) },
  };
}

/** The types of subjects. An operation is the subject of its cancellation, and of no list. */
const subjectTypes: Readonly<Record<string, ResourceDefinition>> = { ...productCatalog.resources, operations };

/** The body of one command: its subject, and its own schemas of changes and reason. */
function commandBody(command: CommandDefinition): OpenApiPart {
  const { subject, from, versionGuard, changes } = command;
  const { prefix, noun } = subjectTypes[subject]!;
  const isCreate = from === null;
  return {
    type: 'object',
    additionalProperties: false,
    required: ['subject', 'changes', ...(needsReason(command) ? ['reason'] : [])],
    properties: {
      subject: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'id'],
        properties: {
          type: { const: subject },
          id: isCreate
            ? { type: 'null', description: 'The service chooses the id.' }
            : { type: 'string', minLength: 1, description: `Of the ${noun.replaceAll('_', ' ')}: \`${prefix}_…\`.` },
          version: isCreate
            ? { const: 0 }
            : {
                ...{ type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 },
                description:
                  versionGuard === 'required'
                    ? 'The version that the client saw; required unless If-Match is sent.'
                    : 'The version that the client saw.',
              },
        },
      },
      changes: jsonSchema(changes, 'input'),
      reason: jsonSchema(reasonSchemaOf(command), 'input'),
    },
  };
}

const quoted = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ');

/** Who approves: as far as there are people who may (docs/adr/0040). */
const reviewNotes: Readonly<Record<string, string>> = {
  single: ', by another person if there is one who may',
  dual: ', by two other people as far as there are any who may',
};

/** What a client has to know of a command before it sends it, beside its summary. */
function describeCommand(command: CommandDefinition): string {
  const { from, to, roles, party, review, externalEffect, consequences = [] } = command;
  const next = to === null ? 'The state stays' : `Next state: ${quoted([to].flat())}`;
  return [
    from === null ? 'Creates its subject.' : `Possible while the subject is ${quoted(from)}.`,
    `${next}. Sent by: ${quoted([...roles, ...(party ? [party] : [])])}. Review: \`${review}\`${reviewNotes[review] ?? ''}.`,
    ...(externalEffect === null ? [] : [`Outside the service: ${externalEffect.replace(/\.?$/, '.')}`]),
    ...(consequences.length === 0 ? [] : [`May also change other resources: ${quoted(consequences)}.`]),
    'Needs the scope `management:write`.',
  ].join(' ');
}

/** Problems that the pipeline may find in the changes of any command. */
const ofStoredValues: readonly ProblemCode[] = ['value_taken', 'link_not_found'];

const commandsForPeople = Object.values<CommandDefinition>(productCatalog.commands).filter(isForPeople);

/** Every code with which a command may be refused. */
const codesOfCommand = (route: ManagementRoute, { problems: own }: CommandDefinition): readonly ProblemCode[] => [
  ...everywhere,
  ...route.refusals.filter((code) => code !== 'unknown_command'),
  ...ofStoredValues,
  ...own,
];

/** One operation for each command that people may send: the route of commands with the schemas of the command in place. */
function commandPaths(route: ManagementRoute): Record<string, OpenApiPart> {
  const common = operationOf(route);
  const parameters = (common['parameters'] as readonly OpenApiPart[]).filter(({ name }) => name !== 'command_type');
  // A new resource has no version that a client could have seen.
  const withoutGuard = parameters.filter(({ name }) => name !== 'If-Match');
  return Object.fromEntries(
    commandsForPeople.map((command) => {
      return [
        route.path.replace('{command_type}', command.type),
        {
          post: {
            ...common,
            operationId: command.type,
            tags: [command.subject],
            summary: command.summary,
            description: describeCommand(command),
            ...(command.deprecated && { deprecated: true }),
            parameters: command.from === null ? withoutGuard : parameters,
            requestBody: {
              required: true,
              content: { 'application/json': { schema: reference('schemas', `command.${command.type}`) } },
            },
            responses: { ...answersOf(route), ...refusals(codesOfCommand(route, command), true) },
          },
        },
      ];
    }),
  );
}

const commandSchemas = () =>
  Object.fromEntries(commandsForPeople.map((command) => [`command.${command.type}`, commandBody(command)]));

/** Refusals of documents. */
const ofDocuments: readonly ProblemCode[] = ['not_acceptable', 'internal_error'];

const documentOperation = ({ operation, summary, body }: PublicDocument): OpenApiPart => ({
  operationId: operation,
  tags: ['about'],
  summary,
  description: 'Needs no token.',
  security: [],
  parameters: headerParameters({
    headers: { 'If-None-Match': { description: 'The tag that the client has: then 304.' } },
  }),
  responses: {
    ...answersOf({
      scope: null,
      answers: {
        200: { description: 'The document.', body, headers: { ETag: 'Identifies this form of the document.' } },
        304: { description: 'Unchanged.', headers: { ETag: 'Identifies this form of the document.' } },
      },
    }),
    ...refusals(ofDocuments, false),
  },
});

/** Where a client gets a token. The link leads to the metadata of the resource on the same host (RFC 9728). */
const tokenSource = `A person gives a program its token at the authorization server that the
[metadata of this API](${protectedResourcePath(`https://host.invalid${basePath}`)}) name; \`docs/management-api.md\`, “A token”, has every
step as a command.`;

/** How pages of the web application reach the API. */
const sessionNote =
  'Pages of the web application send the same requests to `/management/v1` of `{base_url}` with the cookie of their session, which is accepted there alone, and there nothing else is.';

const introduction = `Reads every resource of a workspace and changes it by declared commands.

**Token**: an access token of the authorization server for exactly this API (code flow with PKCE), as \`Authorization: Bearer TOKEN\`. Each
operation names its scope. ${tokenSource}

${sessionNote}

**On the interactive page** the field “Filter by tag” finds commands: type \`line_item.book\`, a path or words of a summary. Groups appear
when they are scrolled to.

**Changes** are commands at \`/workspaces/{workspace_id}/commands/{command_type}\`; below there is one operation for each. The answer is an
operation: poll it while it is \`accepted\` or \`running\`; \`waiting_review\` ends with a decision of other people. Never repeat a command to
learn how it went; after a lost answer send it again with the same \`Idempotency-Key\`.

**Unknown fields**: a request with a field or parameter that is not described here is refused with 422. In answers, fields that are listed
as required are always there; a client may ignore every other one.

**Errors** are \`application/problem+json\`. Any path may also answer 404 and 405, and a request that is not valid HTTP 400, 408, 413, 417 or
431, in the same form.`;

const withoutTemplate = (routes: readonly ManagementRoute[]) => routes.filter(({ body }) => body?.name !== 'Command');

/** The OpenAPI 3.1 document of the Management API, derived from the route table and the catalog. */
export function managementOpenApi(routes: readonly ManagementRoute[]) {
  const schemas: Record<string, OpenApiPart> = { Problem: jsonSchema(problemSchema, 'output') };
  const add = (io: 'input' | 'output') => (body: { readonly name: string; readonly schema: z.ZodType } | undefined) => {
    if (body) schemas[body.name] ??= jsonSchema(body.schema, io);
  };
  const documented = withoutTemplate(routes);
  for (const { body } of publicDocuments) add('output')(body);
  for (const { body } of documented) add('input')(body);
  for (const { answers } of routes) for (const { body } of Object.values(answers)) add('output')(body);
  const executing = routes.filter((route) => !documented.includes(route));
  const paths = {
    ...openApiPaths(publicDocuments, documentOperation),
    ...openApiPaths(documented, operationOf),
    ...Object.assign({}, ...executing.map(commandPaths)),
  } as Record<string, OpenApiPart>;
  return {
    ...openApiHead({ title: `Longwave ${apiName}`, version: apiVersion, description: introduction }, basePath),
    security: [{ bearer: [] }],
    tags: tagsOf(documented),
    paths,
    components: {
      schemas: { ...schemas, ...commandSchemas() },
      responses: Object.assign(
        refusalComponents(ofDocuments, false),
        ...documented.map((route) => refusalComponents(codesOf(route), route.scope !== null)),
        ...executing.flatMap((route) =>
          commandsForPeople.map((command) => refusalComponents(codesOfCommand(route, command), true)),
        ),
      ) as Record<string, OpenApiPart>,
      headers: Object.fromEntries(
        Object.entries(headerNotes).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: tokenSource },
        session: { type: 'apiKey', in: 'cookie', name: `__Host-${sessionCookie}`, description: sessionNote },
      },
    },
  };
}

/** What the groups of reads have. */
const groups: Readonly<Record<string, string>> = {
  me: 'Who is signed in.',
  workspace: 'The workspaces that you see, and the first one of an account.',
  upload: 'Addresses to which files are sent.',
  resource: 'Lists, states and versions of every type of resource.',
  review: 'What a command that waits for a review would change.',
  creative: 'Addresses by which ads are heard.',
  report_run: 'Results of reports.',
  operation: 'Commands that were sent, and how they go on.',
  change: 'Everything that happens in a workspace, in order.',
  receipt: 'Signed receipts of commands, one by one and as a chain.',
  checkpoint: 'Signed statements about all chains of receipts.',
  decision: 'Decisions about ads, and why each candidate won or lost.',
  diagnostics_access: 'Who has read decisions, and what for.',
  line_item_funnel: 'Why line items were given no more slots.',
  tracker_call: 'Calls of trackers of others about servings.',
  webhook_delivery: 'Messages to webhook endpoints, and their attempts.',
};

/** Groups: the documents, the reads, then the commands by the type of their subject. */
function tagsOf(routes: readonly ManagementRoute[]) {
  const reads = [...new Set(routes.map(tagOf))];
  const subjects = commandsForPeople.map(({ subject }) => subject);
  return [
    { name: 'about', description: 'Documents about this API; they need no token.' },
    ...reads.map((name) => ({ name, description: groups[name] ?? `Requests about ${name.replaceAll('_', ' ')}.` })),
    ...[...new Set(subjects)].map((name) => ({ name, description: `Commands on ${name.replaceAll('_', ' ')}.` })),
  ];
}
