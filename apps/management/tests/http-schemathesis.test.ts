import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { runSchemathesis, type SchemathesisRun } from '@longwave/test-kit/schemathesis';
import { createDiagnostics } from '../src/diagnostics/diagnostics.ts';
import { managementOpenApi } from '../src/http/openapi.ts';
import { basePath } from '../src/http/public-documents.ts';
import { managementRoutes } from '../src/http/routes.ts';
import { serveHttp, type HttpWorld } from './_http.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { person } from './_values.ts';
import { createWorld, fillWorkspace, type World } from './_world.ts';

const python = process.env['TEST_SCHEMATHESIS_PYTHON'];
const perOperation = Number(process.env['GENERATED_REQUESTS'] ?? 6);

interface Subject {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

/** Of the OpenAPI document, the commands. */
interface CommandDocument {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly parameters: readonly { name: string }[] } }>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<
        string,
        {
          readonly properties: {
            readonly subject: {
              readonly properties: {
                readonly type: { readonly const: string };
                readonly id: { readonly type: string };
              };
            };
          };
        }
      >
    >;
  };
}

let management: TestManagement;
let api: HttpWorld;
let world: World;
const stack = new AsyncDisposableStack();

/** An internal-serving that has decided nothing. */
const serving = {
  explain: async () => Promise.reject(new Problem('not_found', 'There is no such decision.')),
  find: async () => ({ decisions: [], next: undefined }),
};

async function startApi(): Promise<void> {
  management = stack.use(await startTestManagement());
  const { pool, clock } = management;
  api = stack.use(await serveHttp(management, { diagnostics: createDiagnostics({ pool, serving, clock }) }));
  world = createWorld(management);
  await fillWorkspace(world);
}

/** The first column of a question about the workspace. */
async function wordsOf(sql: string): Promise<string[]> {
  const { rows } = await management.pool.query<{ readonly word: string }>(sql, [world.workspaceId]);
  return rows.map(({ word }) => word);
}

/** The OpenAPI document, in which commands name the subjects that exist: others would never get past "not found". */
async function documentOfWorkspace(): Promise<object> {
  const { rows } = await management.pool.query<Subject>(
    // The other commands need a workspace that is active.
    `select resource_type as type, id, version from resource where workspace_id = $1 and resource_type <> 'workspaces'`,
    [world.workspaceId],
  );
  const document = JSON.parse(JSON.stringify(managementOpenApi(managementRoutes))) as CommandDocument;
  for (const [path, { post }] of Object.entries(document.paths)) {
    const { properties } = document.components.schemas[`command.${path.split('/').at(-1)}`] ?? {};
    const subjects = rows.filter(({ type }) => type === properties?.subject.properties.type.const);
    if (!post || !properties || subjects.length === 0 || properties.subject.properties.id.type === 'null') continue;
    Object.assign(properties, { subject: { enum: subjects } });
    // The subject names its version; another one in If-Match would be refused.
    Object.assign(post, { parameters: post.parameters.filter(({ name }) => name !== 'If-Match') });
  }
  return document;
}

/** Words of paths that exist, used four times of five; and the token of provisioning, which does nothing else. */
async function settingsOf(): Promise<string> {
  const dictionaries = {
    types: await wordsOf('select distinct resource_type as word from resource where workspace_id = $1'),
    resources: await wordsOf('select id as word from resource where workspace_id = $1'),
    // The stream of an operation that is open would not end.
    operations: await wordsOf(
      `select id as word from operation where workspace_id = $1 and state in ('succeeded', 'failed', 'cancelled')`,
    ),
    receipts: await wordsOf('select id as word from receipt where workspace_id = $1'),
  };
  const drawn = {
    resource_type: 'types',
    resource_id: 'resources',
    operation_id: 'operations',
    receipt_id: 'receipts',
  };
  const bootstrap = api.tokenFor(person(newId('ws')), ['management:bootstrap']);
  return [
    ...Object.entries(dictionaries).map(([name, words]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(words)}`),
    '[parameters]',
    `"path.workspace_id" = "${world.workspaceId}"`,
    '"path.version" = 1',
    ...Object.entries(drawn).map(([word, name]) => `"path.${word}" = { dictionary = "${name}", probability = 0.8 }`),
    `[[operations]]\ninclude-path = "/workspace-provisioning"\nheaders = { Authorization = "Bearer ${bootstrap}" }`,
  ].join('\n');
}

/** Sends generated requests to every operation; with a token, in the form of the document and in forms that it forbids. */
async function send(token: string | undefined, maxExamples: number): Promise<SchemathesisRun> {
  const run = await runSchemathesis({
    python: python!,
    document: await documentOfWorkspace(),
    settings: token === undefined ? '' : await settingsOf(),
    url: api.origin + basePath,
    args: [
      '--max-examples',
      String(maxExamples),
      ...(token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`]),
    ],
  });
  console.info(`Schemathesis ${token === undefined ? 'without a token' : 'with a token'}: ${run.cases} cases`);
  return run;
}

if (python !== undefined) {
  beforeAll(startApi);
  afterAll(() => stack.disposeAsync());

  test('requests that Schemathesis generates meet no 5xx, and no status, media type, header or field that is not documented', async () => {
    const token = api.tokenFor(
      world.actor,
      ['management:read', 'management:write', 'management:diagnostics'],
      newId('cli'),
      ['audit'],
    );
    const { exitCode, output, succeeded, cases } = await send(token, perOperation);
    expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' });
    expect(cases).toBeGreaterThan(100 * perOperation);
    // Requests that never get past the checks prove little.
    expect(succeeded).toBeGreaterThan(8 * perOperation);
  }, 600_000);

  test('without a token, generated requests meet only what is documented', async () => {
    const { exitCode, output } = await send(undefined, 1);
    expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' });
  }, 300_000);
} else if (process.env['REQUIRE_FOREIGN_ENGINES'] === '1') {
  test('Schemathesis is required: set TEST_SCHEMATHESIS_PYTHON', () => {
    throw new Error('REQUIRE_FOREIGN_ENGINES=1, but TEST_SCHEMATHESIS_PYTHON is not set.');
  });
} else {
  test.skip('requests that Schemathesis generates: not run, because TEST_SCHEMATHESIS_PYTHON names no Python that has it', () => {});
}
