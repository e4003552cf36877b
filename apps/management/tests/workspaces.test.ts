import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog, type CommandDefinition, type ProductCommand } from '@longwave/command-catalog';
import type { Actor } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { examples } from './_examples.ts';
import { requestedErasure } from './_examples-privacy.ts';
import { startFollowed, type Followed } from './_followed.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { service } from './_values.ts';
import { createWorld } from './_world.ts';

let followed: Followed;
let management: Followed['management'];
/** Without followers, which would change the subjects of examples. */
let plain: TestManagement;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  followed = stack.use(await startFollowed());
  ({ management } = followed);
  plain = stack.use(await startTestManagement());
});
afterAll(() => stack.disposeAsync());

const cause = 'The bill is open.';
const operator = service('operator');
const commands: readonly CommandDefinition[] = Object.values(productCatalog.commands);

/** Services come to an end with what has begun; the operator is no more than people are. */
const isOwnWork = (actor: Actor) => actor.kind === 'service' && actor.name !== 'operator';

/** Sends the example of a command in a workspace that has come to a state; answers “accepted”, or the code and the sentence of its refusal. */
async function answerIn(state: 'suspended' | 'closed', definition: CommandDefinition) {
  const world = createWorld(plain);
  const { subject, changes, reason, actor } = await examples[definition.type as ProductCommand](world);
  await world[state]();
  const answer = await plain
    .execute(
      {
        ...{ workspaceId: world.workspaceId, commandType: definition.type, idempotencyKey: newId('req') },
        ...{ subject, changes, reason },
      },
      actor,
    )
    .then(
      () => 'accepted',
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    );
  return { actor, answer };
}

test('a suspended workspace takes of people and of the operator only what the catalog accepts then; what has begun comes to its end', async () => {
  for (const definition of commands) {
    if (definition.type.startsWith('workspace.')) continue;
    const { actor, answer } = await answerIn('suspended', definition);
    const isAccepted = (definition.whileSuspended ?? (isOwnWork(actor) ? 'accepted' : 'refused')) === 'accepted';
    expect([definition.type, answer]).toEqual([
      definition.type,
      isAccepted ? 'accepted' : `state_not_allowed: The workspace is suspended, and takes no ${definition.type}.`,
    ]);
  }
});

test('a closed workspace takes nothing of people; what has begun comes to its end', async () => {
  for (const definition of commands) {
    if (definition.type.startsWith('workspace.')) continue;
    const { actor, answer } = await answerIn('closed', definition);
    const isAccepted = isOwnWork(actor) && definition.whileSuspended !== 'refused';
    expect([definition.type, answer]).toEqual([
      definition.type,
      isAccepted ? 'accepted' : `state_not_allowed: The workspace is closed, and takes no ${definition.type}.`,
    ]);
  }
});

test('the operator has listeners erased in a closed workspace, and may send nothing else there', async () => {
  const world = createWorld(plain);
  await world.closed();
  const requested = await requestedErasure(world);
  const lease = await world.lease('erase_listeners', requested.id);
  const begun = await world.send('listener_erasure.begin', requested, {}, service('management'), lease);
  const result = { erased: [], unknown_decisions: 1, kept_listeners: 0 };
  const erased = await world.send('listener_erasure.record', begun, result, service('management'), lease);
  expect(erased).toMatchObject({ lifecycle_state: 'erased' });
  const podcast = world.send('podcast.create', null, { title: 'One', language: 'en' }, operator);
  expect(await refusalOf(podcast)).toMatchObject({
    ...{ code: 'state_not_allowed', message: 'The workspace is closed, and takes no podcast.create.' },
  });
  const takenOfOperator = commands.filter(({ whileClosed }) => whileClosed === 'operator').map(({ type }) => type);
  expect(takenOfOperator).toEqual(['listener_data.erase']);
});

test('a command that waited is refused when it is approved in a suspended workspace; resuming and closing are carried out', async () => {
  const world = createWorld(management);
  const workspace = await world.workspace();
  const { task, advertiser } = await world.waiting();
  const suspended = await world.send('workspace.suspend', workspace, { cause }, operator);
  await world.send('review.approve', task, {}, world.reviewer);
  await followed.until(task.id, ({ lifecycle_state: state }) => state === 'approved');
  await management.runApproved(world.workspaceId, task.id);
  expect((await followed.read(advertiser.id)).version).toBe(1);
  await world.send('workspace.resume', suspended, { cause });
  await world.send('review.approve', await world.taskOf(workspace.id), {}, world.reviewer);
  await followed.until(workspace.id, ({ lifecycle_state: state }) => state === 'active');
});

test('the name and the time zone of a workspace are configured, and something must change', async () => {
  const world = createWorld(management);
  const workspace = await world.workspace();
  const configured = await world.send('workspace.configure', workspace, { time_zone: 'Asia/Tokyo' }, operator);
  expect(configured.attributes).toEqual({ ...workspace.attributes, time_zone: 'Asia/Tokyo' });
  for (const changes of [{}, { time_zone: 'Mars/Olympus' }, { currency: 'USD' }])
    await expect(world.send('workspace.configure', configured, changes, operator)).rejects.toMatchObject({
      code: 'validation_failed',
    });
});

test('a workspace is closed only under its name; closing archives its podcasts, ends grants and keys, and ends the operation', async () => {
  const world = createWorld(management);
  const workspace = await world.suspended();
  const close = (confirm_name: string) => world.send('workspace.close', workspace, { confirm_name }, operator);
  expect(await refusalOf(close('B'))).toMatchObject({ code: 'validation_failed' });

  const open = createWorld(management);
  const podcast = await open.podcast();
  const { grant } = await open.granted();
  const [proposed, key] = [await open.proposed(), await open.activeKey(grant.id)];
  const suspended = await open.suspended();
  const closing = await open.send('workspace.close', suspended, { confirm_name: 'A' }, operator);
  expect(closing).toMatchObject({ lifecycle_state: 'suspended' });
  await followed.until(closing.id, ({ lifecycle_state: state }) => state === 'closed');
  for (const [id, state] of [
    [podcast.id, 'archived'],
    [grant.id, 'revoked'],
    [proposed.id, 'revoked'],
    [key.id, 'revoked'],
  ] as const)
    expect([id, (await followed.read(id)).lifecycle_state]).toEqual([id, state]);
  const { rows } = await management.pool.query<{ state: string }>(
    `select state from operation where subject_id = $1 and command_type = 'workspace.close'`,
    [closing.id],
  );
  expect(rows).toEqual([{ state: 'succeeded' }]);
  expect(await refusalOf(open.podcast())).toMatchObject({ code: 'state_not_allowed' });
  expect(await refusalOf(open.halt())).toMatchObject({ code: 'state_not_allowed' });
});

test('a workspace that is being closed is not resumed, and not closed twice', async () => {
  const world = createWorld(plain);
  const closing = await world.send('workspace.close', await world.suspended(), { confirm_name: 'A' }, operator);
  for (const [type, changes] of [
    ['workspace.resume', { cause }],
    ['workspace.close', { confirm_name: 'A' }],
  ] as const)
    expect(await refusalOf(world.send(type, closing, changes, operator))).toMatchObject({
      ...{ code: 'state_not_allowed', message: 'The workspace is being closed for good.' },
    });
});
