import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  operations,
  productCatalog,
  reviewRequested,
  webhookEventTypes,
  webhookMessageSchema,
  type CommandDefinition,
  type ResourceDefinition,
  type ProductCommand,
} from '@longwave/command-catalog';
import { receiptHash, type Actor, type CommandRequest, type OperationView } from '@longwave/command-pipeline';
import { domainEventSchema } from '@longwave/events';
import { newId } from '@longwave/ids';
import { createPool, transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { compactVerify, importJWK } from 'jose';
import { renderEvent } from '../src/workspace/webhooks/webhook-message.ts';
import { operator, startTestManagement, type TestManagement } from './_management.ts';
import { person } from './_values.ts';
import { createWorld, type World } from './_world.ts';
import type { Example } from './_example.ts';
import { examples } from './_examples.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
  // What a command leaves is counted among the events of all that went before. The service itself may make no index.
  const owner = createPool(management.database.adminUrl, 'product', { name: 'test-owner' });
  await owner.query(`create index on outbox ((payload->>'workspace_id'))`);
  await owner.end();
});
afterAll(async () => management[Symbol.asyncDispose]());

const roots = { baseUrl: 'https://longwave.example', apiUrl: 'https://api.longwave.example' };
const commands = Object.keys(productCatalog.commands) as ProductCommand[];

/** Sends an example with some fields replaced, and returns the outcome or the problem's code and status. */
async function attempt(
  workspaceId: string,
  commandType: ProductCommand,
  example: Example,
  change: Partial<CommandRequest> & { actor?: Actor } = {},
) {
  const { actor = example.actor, ...request } = change;
  try {
    return await management.execute(
      {
        workspaceId,
        commandType,
        idempotencyKey: newId('req'),
        subject: example.subject,
        changes: example.changes,
        reason: example.reason,
        ...request,
      },
      actor,
    );
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, status: error.status, detail: error.message };
    throw error;
  }
}

/** What commands leave behind: rows, jobs, numbers of statements, and the version of what is sold, which every reservation raises. */
async function countRows(workspaceId: string): Promise<Record<string, number>> {
  const counted = ['resource', 'operation', 'receipt', 'idempotency_record', 'job', 'reconciliation_item'].map(
    (table) => `(select count(*)::int from ${table} where workspace_id = $1) as ${table}`,
  );
  const highest = Object.entries({ billing_number: 'last', booking_version: 'version' }).map(
    ([table, column]) => `(select max(${column})::int from ${table} where workspace_id = $1) as ${table}`,
  );
  const { rows } = await management.pool.query<Record<string, number>>(
    `select ${[...counted, ...highest].join()},
       (select count(*)::int from outbox where payload->>'workspace_id' = $1) as outbox`,
    [workspaceId],
  );
  return rows[0]!;
}

const tableOf = ({ subject }: CommandDefinition) => (subject === operations.type ? 'operation' : 'resource');

describe.each(commands)('%s', (command) => {
  const definition: CommandDefinition = productCatalog.commands[command];

  /** The tests of refusals share one example, which the last test then has accepted: nothing that was refused has changed it. */
  let world: World;
  let example: Example;
  let untouched: Record<string, number>;
  beforeAll(async () => {
    world = createWorld(management);
    example = await examples[command](world);
    untouched = await countRows(world.workspaceId);
  });

  test('refuses unknown fields, a missing and a malformed key, and leaves no trace', async () => {
    expect(
      await attempt(world.workspaceId, command, example, { changes: { ...example.changes, no_such_field: 1 } }),
    ).toMatchObject({ code: 'validation_failed', status: 422 });
    expect(await attempt(world.workspaceId, command, example, { changes: [] })).toMatchObject({
      code: 'validation_failed',
    });
    expect(await attempt(world.workspaceId, command, example, { idempotencyKey: '' })).toMatchObject({
      code: 'idempotency_key_required',
      status: 400,
    });
    expect(await attempt(world.workspaceId, command, example, { idempotencyKey: '-no' })).toMatchObject({
      code: 'idempotency_key_invalid',
      status: 422,
    });
    expect(
      await attempt(world.workspaceId, command, example, { subject: { ...example.subject, type: 'nouns' } }),
    ).toMatchObject({ code: 'validation_failed' });
    expect(await countRows(world.workspaceId)).toEqual(untouched);
  });

  test('is refused to a viewer, to a read-only credential and to a service that the catalog does not name', async () => {
    const owner = person(world.workspaceId);
    const readOnly: Actor =
      owner.kind === 'principal' ? { kind: 'principal', principal: { ...owner.principal, read_only: true } } : owner;
    for (const actor of [
      person(world.workspaceId, ['viewer']),
      readOnly,
      { kind: 'service', name: 'public-delivery' } as const,
    ]) {
      const request = definition.from === null ? { subject: { ...example.subject, id: null } } : {};
      expect(await attempt(world.workspaceId, command, example, { actor, ...request })).toMatchObject({
        code: 'permission_denied',
        status: 403,
      });
    }
  });

  if (definition.from !== null) {
    test('refuses a stale version: 409 by subject, 412 by If-Match, 422 when both disagree', async () => {
      const stale = { ...example.subject, version: example.subject.version + 7 };
      expect(await attempt(world.workspaceId, command, example, { subject: stale })).toMatchObject({
        code: 'version_conflict',
        status: 409,
      });
      const ifMatch = `"${example.subject.version}.0123456789abcdef"`;
      expect(await attempt(world.workspaceId, command, example, { ifMatch })).toMatchObject({
        code: 'version_conflict',
        status: 412,
      });
      expect(await attempt(world.workspaceId, command, example, { ifMatch, subject: stale })).toMatchObject({
        code: 'version_guard_mismatch',
        status: 422,
      });
      const unguarded = { type: example.subject.type, id: example.subject.id };
      if (definition.versionGuard === 'required')
        expect(await attempt(world.workspaceId, command, example, { subject: unguarded })).toMatchObject({
          code: 'version_guard_required',
          status: 428,
        });
    });

    test('answers a subject of another workspace exactly as a missing one', async () => {
      const missing = { ...example.subject, id: example.subject.id!.slice(0, -4) + '0000' };
      const stranger = newId('ws');
      const actor = example.actor.kind === 'principal' ? person(stranger) : example.actor;
      const answers = [
        await attempt(stranger, command, example, { actor }),
        await attempt(stranger, command, example, { actor, subject: missing }),
      ].map((answer) => JSON.stringify(answer).replaceAll(missing.id, 'ID').replaceAll(example.subject.id!, 'ID'));
      expect(answers[0]).toBe(answers[1]);
      // A command of a party alone is denied to everybody else, whether its subject exists or not.
      expect(answers[0]).toContain(
        definition.party && definition.roles.length === 0 ? 'permission_denied' : 'not_found',
      );
      const table = tableOf(definition);
      const { rows } = await management.pool.query(`select version from ${table} where id = $1`, [example.subject.id]);
      expect(rows[0].version).toBe(example.subject.version);
    });

    test('is refused in a state that the catalog does not name', async () => {
      const types: Readonly<Record<string, ResourceDefinition>> = { ...productCatalog.resources, operations };
      const { states } = types[definition.subject]!;
      const wrong = states.find((state) => !definition.from!.includes(state));
      if (wrong === undefined) return;
      // An operation that is over cannot be brought back, by nobody.
      const isOfOperation = definition.subject === operations.type;
      const place = isOfOperation ? createWorld(management) : world;
      const tested = isOfOperation ? await examples[command](place) : example;
      // The only place that bypasses the pipeline: no command leads from every state to every other.
      const column = tableOf(definition) === 'operation' ? 'state' : 'lifecycle_state';
      const become = (state: string) =>
        management.pool.query<{ state: string }>(
          `update ${tableOf(definition)} n set ${column} = $2 from ${tableOf(definition)} o
           where n.id = $1 and o.id = n.id returning o.${column} as state`,
          [tested.subject.id, state],
        );
      const { rows } = await become(wrong);
      expect(await attempt(place.workspaceId, command, tested)).toMatchObject({
        code: 'state_not_allowed',
        status: 422,
      });
      if (!isOfOperation) await become(rows[0]!.state);
    });
  }

  test('is accepted with one revision, one operation, one receipt and only its declared event, whose webhook message fits its schema; a replay repeats the answer and changes nothing', async () => {
    const before = await countRows(world.workspaceId);
    // The refusals above have left nothing: no resource, job or operation, no reservation, item or number.
    expect(before).toEqual(untouched);
    const idempotencyKey = newId('req');
    const first = await attempt(world.workspaceId, command, example, { idempotencyKey });
    if ('code' in first) throw new Error(`${first.code}: ${first.detail}`);
    const after = await countRows(world.workspaceId);
    const waits = example.actor.kind === 'principal' && ['single', 'dual'].includes(definition.review);
    expect(first.resource?.version ?? 0).toBe(example.subject.version + (waits ? 0 : 1));
    expect(first.status).toBe(waits || definition.mode === 'async' ? 202 : 200);
    const { consequences = [] } = JSON.parse(first.operationJson) as OperationView;
    for (const table of ['operation', 'receipt', 'idempotency_record']) expect(after[table]! - before[table]!).toBe(1);
    expect(after['outbox']! - before['outbox']!).toBe(1 + consequences.length);
    const { rows } = await management.pool.query('select type, payload from outbox order by position desc limit 1');
    expect(rows[0].type).toBe(waits ? reviewRequested : definition.event);
    if (!waits) expect(rows[0].payload.after).toEqual(JSON.parse(JSON.stringify(first.resource)));
    const message = renderEvent(domainEventSchema.parse(rows[0].payload), roots);
    const isOffered = !['webhook_endpoints', operations.type].includes(definition.subject);
    expect(isOffered ? webhookEventTypes : [message.type]).toContain(message.type);
    if (isOffered) expect(webhookMessageSchema(message.type).parse(message)).toEqual(message);

    const again = await attempt(world.workspaceId, command, example, { idempotencyKey });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await countRows(world.workspaceId)).toEqual(after);

    const other = await attempt(world.workspaceId, command, example, {
      idempotencyKey,
      reason: definition.reason ? { job_id: 'x', lease_id: 'y' } : 'another reason',
    });
    expect(other).toMatchObject({ code: 'idempotency_conflict', status: 409 });
  });

  test('lets one of two simultaneous requests with the same key execute; the other gets its answer', async () => {
    const world = createWorld(management);
    const example = await examples[command](world);
    const idempotencyKey = newId('req');
    const answers = await Promise.all(
      [1, 2, 3].map(() => attempt(world.workspaceId, command, example, { idempotencyKey })),
    );
    const operations = answers.map((answer) => ('operationJson' in answer ? answer.operationJson : answer.code));
    expect(new Set(operations).size).toBe(1);
    expect(answers.filter((answer) => 'replayed' in answer && !answer.replayed)).toHaveLength(1);
  });
});

test('a command whose key another transaction holds is told to come again, and is carried out when that one ended without it', async () => {
  const world = createWorld(management);
  const example = await examples['podcast.create'](world);
  const idempotencyKey = newId('req');
  const send = () => attempt(world.workspaceId, 'podcast.create', example, { idempotencyKey, actor: operator });
  const holder = transaction(management.pool, async (tx) => {
    await tx.query(
      `insert into idempotency_record (client_id, workspace_id, command_type, key, digest, operation_id, status, answer, created_at)
       values ('service:operator', $1, 'podcast.create', $2, '', '', 0, '', now())`,
      [world.workspaceId, idempotencyKey],
    );
    expect(await send()).toMatchObject({ code: 'idempotency_in_progress', status: 409 });
    throw new Error('given up');
  });
  await expect(holder).rejects.toThrow('given up');
  expect(await send()).toMatchObject({ status: 200, replayed: false });
});

test('a person cannot act in another workspace, whatever the role', async () => {
  const world = createWorld(management);
  const answer = await attempt(world.workspaceId, 'podcast.create', await examples['podcast.create'](world), {
    actor: person(newId('ws')),
  });
  expect(answer).toMatchObject({ code: 'not_found', status: 404 });
});

test('an unknown command is 404', async () => {
  const world = createWorld(management);
  const answer = await attempt(
    world.workspaceId,
    'podcast.explode' as ProductCommand,
    await examples['podcast.create'](world),
    { actor: operator },
  );
  expect(answer).toMatchObject({ code: 'unknown_command', status: 404 });
});

test('every revision of every command above is listed once among the changes of its workspace, with its event', async () => {
  const { rows } = await management.pool.query(
    `select v.resource_id, v.version, count(c.seq)::int as changes
     from revision v join resource r on r.id = v.resource_id
     left join outbox o on o.key = v.resource_id and (o.payload #>> '{subject,version}')::int = v.version
     left join change c on c.workspace_id = r.workspace_id and c.resource_type = r.resource_type
       and c.resource_id = v.resource_id and c.version = v.version and c.event_type = o.type
       and c.operation_id = v.operation_id and c.occurred_at = v.created_at
     group by v.resource_id, v.version having count(c.seq) <> 1`,
  );
  expect(rows).toEqual([]);
  const { rows: totals } = await management.pool.query(
    'select (select count(*) from revision) = (select count(*) from change) as equal',
  );
  expect(totals).toEqual([{ equal: true }]);
});

test('receipts of a workspace form one signed chain without gaps, also under concurrency', async () => {
  const world = createWorld(management);
  await Promise.all(Array.from({ length: 25 }, () => world.podcast()));
  const { rows } = await management.pool.query<{ seq: number; jws: string }>(
    'select seq, jws from receipt where workspace_id = $1 order by seq',
    [world.workspaceId],
  );
  expect(rows).toHaveLength(25);
  const key = await importJWK(management.publicKey, 'EdDSA');
  let prev = '0'.repeat(64);
  for (const [index, { seq, jws }] of rows.entries()) {
    const { payload } = await compactVerify(jws, key);
    const statement = JSON.parse(Buffer.from(payload).toString()) as { chain: { seq: number; prev: string } };
    expect([seq, statement.chain.seq, statement.chain.prev]).toEqual([index + 1, index + 1, prev]);
    prev = receiptHash(jws);
  }
});
