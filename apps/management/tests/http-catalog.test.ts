import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  isForPeople,
  operations,
  productCatalog,
  reviewRequested,
  type CommandDefinition,
  type ProductCommand,
  type ResourceDefinition,
} from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import type { ProblemCode } from '@longwave/problems';
import { undocumented } from './_documented.ts';
import type { Example } from './_example.ts';
import { examples } from './_examples.ts';
import { apiUrl, withoutTrace, type HttpAnswer } from './_http.ts';
import { api, management } from './_shared-http.ts';
import { person } from './_values.ts';
import { createWorld, type World } from './_world.ts';

const commands = Object.values<CommandDefinition>(productCatalog.commands).filter(isForPeople);

/** A request for a command and the means to send it with something changed. */
interface Sender {
  readonly world: World;
  readonly example: Example;
  readonly clientId: string;
  readonly send: (change?: Change) => Promise<HttpAnswer>;
}
interface Change {
  readonly workspaceId?: string;
  /** null: none. */
  readonly token?: string | null;
  readonly key?: string;
  readonly ifMatch?: string;
  readonly subject?: object;
  readonly changes?: object;
  readonly body?: object;
}

/** A valid request for a command, in a world of its own. */
async function senderOf(definition: CommandDefinition): Promise<Sender> {
  const world = createWorld(management);
  const made = await examples[definition.type as ProductCommand](world);
  const example = made.actor.kind === 'principal' ? made : { ...made, actor: world.actor };
  const clientId: string = newId('cli');
  const usual = api.tokenFor(example.actor, ['management:read', 'management:write'], clientId);
  const send = async (change: Change = {}): Promise<HttpAnswer> => {
    const { workspaceId = world.workspaceId, token = usual, key = newId('req'), ifMatch } = change;
    const { subject = example.subject, changes = example.changes, body = {} } = change;
    const answer = await api.call(`/workspaces/${workspaceId}/commands/${definition.type}`, {
      ...(token !== null && { token }),
      headers: { 'idempotency-key': key, ...(ifMatch !== undefined && { 'if-match': ifMatch }) },
      body: { subject, changes, reason: example.reason, ...body },
    });
    const path = `/workspaces/{workspace_id}/commands/${definition.type}`;
    expect(undocumented('POST', path, answer)).toBeUndefined();
    return answer;
  };
  return { world, example, clientId, send };
}

const refusal = ({ status, json }: HttpAnswer) => [status, json?.code as ProblemCode];

test('there is an example of every command that people may send', () => {
  expect(commands.length).toBeGreaterThan(80);
  expect(commands.filter(({ type }) => !(type in examples))).toEqual([]);
});

describe.each(commands.map((definition) => [definition.type, definition] as const))('%s', (_type, definition) => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await senderOf(definition);
  });
  const isOfOperation = definition.subject === operations.type;
  const [table, stateColumn] = isOfOperation ? ['operation', 'state'] : ['resource', 'lifecycle_state'];

  test('is refused without a token, without the scope, without the role, and in a workspace that the caller does not see', async () => {
    const { world, send } = sender;
    const nobody = await send({ token: null });
    expect(refusal(nobody)).toEqual([401, 'token_missing']);
    expect(nobody.headers.get('www-authenticate')).toContain('scope="management:write"');
    expect(refusal(await send({ token: 'x' }))).toEqual([401, 'token_invalid']);
    const reading = await send({ token: api.tokenFor(world.actor, ['management:read']) });
    expect(refusal(reading)).toEqual([403, 'insufficient_scope']);
    const stranger = api.tokenFor(person(newId('ws')));
    const foreign = await send({ token: stranger });
    expect(refusal(foreign)).toEqual([404, 'not_found']);
    expect(withoutTrace(foreign)).toBe(withoutTrace(await send({ token: stranger, workspaceId: newId('ws') })));
    if (definition.roles.includes('viewer')) return;
    const viewer = api.tokenFor(person(world.workspaceId, ['viewer']));
    expect(refusal(await send({ token: viewer }))).toEqual([403, 'permission_denied']);
  });

  test('is refused with a field that it does not know, which the answer names', async () => {
    const { example, send } = sender;
    for (const [change, path] of [
      [{ changes: { ...example.changes, no_such_field: 1 } }, '/changes/no_such_field'],
      [{ subject: { ...example.subject, no_such_field: 1 } }, '/subject/no_such_field'],
      [{ body: { no_such_field: 1 } }, '/no_such_field'],
    ] as const) {
      const answer = await send(change);
      expect(refusal(answer)).toEqual([422, 'validation_failed']);
      expect(answer.json.errors).toEqual(
        expect.arrayContaining([expect.objectContaining({ path, code: 'unknown_field' })]),
      );
    }
  });

  if (definition.from !== null) {
    test('is refused on another version than the current one, which the answer names', async () => {
      const { example, send } = sender;
      const { type, id, version } = example.subject;
      const byTag = await send({ subject: { type, id }, ifMatch: `"${version}.0123456789abcdef"` });
      const byVersion = await send({ subject: { type, id, version: version + 7 } });
      expect([refusal(byTag), refusal(byVersion)]).toEqual([
        [412, 'version_conflict'],
        [409, 'version_conflict'],
      ]);
      const etag = byTag.headers.get('etag')!;
      const token = api.tokenFor(sender.world.actor);
      if (!isOfOperation) {
        const read = `/workspaces/${sender.world.workspaceId}/resources/${type}/${id}`;
        expect((await api.call(read, { token })).headers.get('etag')).toBe(etag);
      }
      for (const answer of [byTag, byVersion]) {
        expect(answer.headers.get('etag')).toBe(etag);
        expect(answer.json.subject).toEqual({ type, id, version });
        const recovery = (answer.json.recovery_url as string).slice(`${apiUrl}/management/v1`.length);
        expect((await api.call(recovery, { token })).status).toBe(200);
        expect(answer.json.retry.class).toBe('after_read');
      }
      const both = await send({ subject: { type, id, version: version + 7 }, ifMatch: etag });
      expect(refusal(both)).toEqual([422, 'version_guard_mismatch']);
      if (definition.versionGuard === 'required')
        expect(refusal(await send({ subject: { type, id } }))).toEqual([428, 'version_guard_required']);
    });

    test('is refused in every state from which it does not start', async () => {
      const types: Readonly<Record<string, ResourceDefinition>> = { ...productCatalog.resources, operations };
      const subjectType = types[definition.subject]!;
      for (const state of subjectType.states.filter((one) => !definition.from!.includes(one))) {
        // An operation that is over cannot be brought back, by nobody.
        const { example, send } = isOfOperation ? await senderOf(definition) : sender;
        // The only place that bypasses the pipeline: no command leads from every state to every other.
        const become = (next: string) =>
          management.pool.query(`update ${table} set ${stateColumn} = $2 where id = $1`, [example.subject.id, next]);
        const { rows } = await management.pool.query<{ state: string }>(
          `select ${stateColumn} as state from ${table} where id = $1`,
          [example.subject.id],
        );
        await become(state);
        const answer = await send();
        expect([state, ...refusal(answer)]).toEqual([state, 422, 'state_not_allowed']);
        if (!isOfOperation) await become(rows[0]!.state);
      }
    });
  }

  test('is accepted once: a replay has the same status and bytes, also with a stale version and without the role; another payload conflicts', async () => {
    const { world, example, clientId, send } = sender;
    const key = newId('req');
    const position = await management.pool.query<{ last: string }>(
      'select coalesce(max(position), 0) as last from outbox',
    );
    const first = await send({ key });
    expect([200, 202]).toContain(first.status);
    const location = `${apiUrl}/management/v1/workspaces/${world.workspaceId}/operations/${first.json.id}`;
    expect(first.headers.get('location')).toBe(location);
    const { rows: events } = await management.pool.query<{ type: string }>(
      `select type from outbox where position > $1 and payload ->> 'workspace_id' = $2`,
      [position.rows[0]!.last, world.workspaceId],
    );
    const declared = [definition.event, reviewRequested, ...(definition.consequences ?? [])];
    expect(events.length).toBeGreaterThan(0);
    expect(events.map(({ type }) => type).filter((type) => !declared.includes(type))).toEqual([]);

    const withoutRole =
      example.actor.kind === 'principal'
        ? { ...example.actor, principal: { ...example.actor.principal, roles: ['viewer' as const] } }
        : example.actor;
    const replays = [
      await send({ key }),
      await send({ key, ...(definition.from !== null && { ifMatch: '"999.0123456789abcdef"' }) }),
      await send({ key, token: api.tokenFor(withoutRole, ['management:write'], clientId) }),
    ];
    for (const replay of replays) expect([replay.status, replay.text]).toEqual([first.status, first.text]);

    const other = await send({ key, body: { reason: otherReason(definition) } });
    expect(refusal(other)).toEqual([409, 'idempotency_conflict']);
    expect(other.json).toMatchObject({ operation_id: first.json.id, recovery_url: location });
  });
});

/** A valid reason that no example has. */
const otherReason = ({ reason }: CommandDefinition) =>
  reason && !reason.safeParse('another reason').success ? { job_id: 'x', lease_id: 'y' } : 'another reason';
