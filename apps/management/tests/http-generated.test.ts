import { beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { allowed, nearly, type JsonSchema } from '@longwave/test-kit/schema-values';
import fc from 'fast-check';
import { managementOpenApi } from '../src/http/openapi.ts';
import { managementRoutes } from '../src/http/routes.ts';
import { undocumented } from './_documented.ts';
import { api, management, world } from './_shared-http.ts';
import { fillWorkspace } from './_world.ts';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonSchema }[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
  };
}
const document = JSON.parse(JSON.stringify(managementOpenApi(managementRoutes))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

const perOperation = Number(process.env['GENERATED_REQUESTS'] ?? 10);

interface Known {
  readonly id: string;
  readonly type: string;
  readonly version: number;
}

let known: readonly Known[];
beforeAll(() => fillWorkspace(world));

/** Reads the present versions of what exists: an earlier request may have changed it. */
async function readKnown(): Promise<void> {
  const { rows } = await management.pool.query<Known>(
    'select id, resource_type as type, version from resource where workspace_id = $1 order by id',
    [world.workspaceId],
  );
  known = rows;
}

/** A word of a path: one that exists mostly. */
function wordOf(name: string): fc.Arbitrary<string> {
  const types = [...new Set(known.map(({ type }) => type))];
  const words: Readonly<Record<string, readonly string[]>> = {
    workspace_id: [world.workspaceId],
    resource_type: types,
    resource_id: known.map(({ id }) => id),
    version: ['1', '2'],
  };
  const some = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((text) => text.toWellFormed());
  const choices = words[name];
  return choices ? fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...choices) }, some) : some;
}

/** A body as the document allows it, or nearly so; its subject exists mostly. */
function bodyOf({ requestBody }: Operation): fc.Arbitrary<unknown> {
  if (!requestBody) return fc.constant(undefined);
  const schema = document.components.schemas[requestBody.content['application/json'].schema.$ref.split('/').at(-1)!]!;
  const type = schema.properties?.['subject']?.properties?.['type']?.const;
  const subjects = known.filter((each) => each.type === type).map((each) => ({ ...each }));
  const filled = fc.record({
    subject: subjects.length > 0 ? fc.constantFrom(...subjects) : fc.constant({ type, id: null, version: 0 }),
    changes: fc.oneof(allowed(schema.properties?.['changes'] ?? {}), nearly(schema.properties?.['changes'] ?? {})),
  });
  return fc.oneof({ weight: 4, arbitrary: filled }, nearly(schema));
}

test('generated requests to every operation meet no 5xx, and no status, header, field or problem that is not documented', async () => {
  const failures: string[] = [];
  const statuses = new Map<number, number>();
  const acceptedCommands = new Set<string>();
  const token = api.tokenFor(world.actor);
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      await readKnown();
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      const query = operation.parameters.filter((parameter) => parameter.in === 'query');
      const requests = fc.record({
        words: fc.tuple(...names.map(wordOf)),
        query: fc.record(
          Object.fromEntries(query.map(({ name, schema }) => [name, fc.oneof(allowed(schema), nearly(schema))])),
          { requiredKeys: [] },
        ),
        body: bodyOf(operation),
      });
      for (const { words, query: values, body } of fc.sample(requests, { numRuns: perOperation, seed: 42 })) {
        const place = names.reduce(
          (text, name, index) => text.replace(`{${name}}`, encodeURIComponent(words[index]!)),
          path,
        );
        const search = new URLSearchParams(
          Object.entries(values).map(([name, value]): [string, string] => [
            name,
            typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value),
          ]),
        );
        const answer = await api.call(`${place}${search.size > 0 ? `?${search.toString()}` : ''}`, {
          method: method.toUpperCase(),
          token,
          headers: { 'idempotency-key': newId('req') },
          body,
        });
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (path.includes('/commands/') && [200, 202].includes(answer.status)) acceptedCommands.add(path);
        const wrong = undocumented(method, path, answer);
        if (answer.status >= 500 || wrong)
          failures.push(
            `${wrong ?? ''} ${place} ${JSON.stringify(body)?.slice(0, 300)} → ${answer.text.slice(0, 300)}`,
          );
      }
    }
  expect(failures.slice(0, 10)).toEqual([]);
  // Requests that never get past the checks prove little.
  expect((statuses.get(200) ?? 0) + (statuses.get(202) ?? 0)).toBeGreaterThan(50);
  expect(acceptedCommands.size).toBeGreaterThan(25);
});
