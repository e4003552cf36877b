import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { startFollowed, type Followed } from './_followed.ts';
import { hour } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let followed: Followed;
let management: Followed['management'];
beforeAll(async () => {
  followed = await startFollowed();
  ({ management } = followed);
});
afterAll(async () => followed?.[Symbol.asyncDispose]());

const stateOf = async (id: string) => (await followed.read(id)).lifecycle_state;
const refused = (world: World, changes: Record<string, unknown>) =>
  world.send('inventory_unit.create', null, { name: 'Unit', ...changes }).then(
    () => 'accepted',
    (error: { context: { errors: { path: string; code: string }[] } }) =>
      error.context.errors.map(({ path, code }) => `${path} ${code}`).join(),
  );

test('an inventory unit has the source of its kind, and only from its workspace', async () => {
  const [world, other] = [createWorld(management), createWorld(management)];
  const podcast = await world.podcast();
  const episode = await world.episode();
  const foreign = await other.podcast();
  const source = (value: object) => ({ source_ref: value });
  const kind = (name: string, value: object) => refused(world, { kind: name, ...source(value) });
  const wrong = '/changes/source_ref wrong_source';
  expect(await kind('network', { podcast_id: podcast.id })).toBe(wrong);
  expect(await kind('show', {})).toBe(wrong);
  expect(await kind('show', { podcast_id: podcast.id, episode_ids: [episode.id] })).toBe(wrong);
  expect(await kind('episode_set', { podcast_id: podcast.id })).toBe(wrong);
  expect(await kind('show', { podcast_id: foreign.id })).toBe('/changes/source_ref/podcast_id link_not_found');
  expect(await kind('episode_set', { podcast_id: podcast.id, episode_ids: [episode.id] })).toBe(
    '/changes/source_ref/episode_ids other_podcast',
  );
  expect(await kind('episode_set', { podcast_id: episode.attributes['podcast_id'], episode_ids: [newId('ep')] })).toBe(
    '/changes/source_ref/episode_ids link_not_found',
  );
  expect(await kind('episode_set', { podcast_id: episode.attributes['podcast_id'], episode_ids: [episode.id] })).toBe(
    'accepted',
  );
});

test('inventory units form a tree: no circle, however long', async () => {
  const world = createWorld(management);
  const top = await world.network();
  const below = await world.send('inventory_unit.create', null, {
    kind: 'network',
    name: 'Below',
    source_ref: {},
    parent_id: top.id,
  });
  for (const parent of [top, below])
    await expect(world.send('inventory_unit.revise', top, { parent_id: parent.id })).rejects.toMatchObject({
      context: { errors: [{ path: '/changes/parent_id', code: 'no_tree' }] },
    });
});

test('the least prices of a unit, in general and of positions, are in the currency of its workspace, and not of a set', async () => {
  const world = createWorld(management);
  await world.provisioned();
  const min = (currency: string) => ({ min_cpm: { amount_micros: '1000000', currency } });
  const network = { kind: 'network', source_ref: {} };
  expect(await refused(world, { ...network, ...min('USD') })).toBe('/changes/min_cpm/currency wrong_currency');
  expect(await refused(world, { ...network, ...min('EUR') })).toBe('accepted');
  const at = (currency: string) => ({
    min_cpm_by_position: [
      { position: 'pre', ...min('EUR') },
      { position: 'mid', ...min(currency) },
    ],
  });
  expect(await refused(world, { ...network, ...at('USD') })).toBe(
    '/changes/min_cpm_by_position/1/min_cpm/currency wrong_currency',
  );
  expect(await refused(world, { ...network, ...at('EUR') })).toBe('accepted');
  const [first] = at('EUR').min_cpm_by_position;
  const twice = { min_cpm_by_position: [first, first] };
  expect(await refused(world, { ...network, ...twice })).toContain('/changes/min_cpm_by_position');
  const episode = await world.episode();
  const source = { podcast_id: episode.attributes['podcast_id'], episode_ids: [episode.id] };
  const set = { kind: 'episode_set', source_ref: source };
  expect(await refused(world, { ...set, ...at('EUR') })).toBe('/changes/min_cpm_by_position not_of_a_set');
});

test('a pause has a cause, and the state after it has none', async () => {
  const world = createWorld(management);
  const paused = await world.send('inventory_unit.pause', await world.activeUnit(), { cause: 'Sold elsewhere.' });
  expect(paused).toMatchObject({ lifecycle_state: 'paused', state_reason: 'Sold elsewhere.' });
  const active = await world.send('inventory_unit.activate', paused, {});
  expect(active.state_reason).toBeUndefined();
});

test('a published break plan supersedes those whose inventory it covers, and no other', async () => {
  const world = createWorld(management);
  const [one, two] = [await world.show(), await world.show()];
  const everywhere = await world.publishedBreakPlan();
  const first = await world.publishedBreakPlan([one.id]);
  const both = await world.publishedBreakPlan([one.id, two.id]);
  await followed.until(first.id, (row) => row.lifecycle_state === 'superseded');
  const second = await world.publishedBreakPlan([two.id]);
  const anew = await world.publishedBreakPlan();
  await followed.until(everywhere.id, (row) => row.lifecycle_state === 'superseded');
  await followed.caughtUp(world);
  expect(await Promise.all([both, second, anew].map(({ id }) => stateOf(id)))).toEqual(Array(3).fill('published'));
});

test('a break plan that is published for later supersedes its predecessor when its time comes, not before', async () => {
  const world = createWorld(management);
  const before = await world.publishedBreakPlan();
  const at = new Date(management.clock().getTime() + hour).toISOString();
  const later = await world.publishedBreakPlan([], at);
  await followed.expectToEndInAnHour(world, before, later);
});

test('a break plan is retired for a published one, never for itself, for a draft or for a plan of another workspace', async () => {
  const world = createWorld(management);
  const plan = await world.publishedBreakPlan([(await world.show()).id]);
  const stranger = await createWorld(management).publishedBreakPlan();
  const draft = await world.breakPlan();
  for (const replacement of [plan, stranger, draft])
    await expect(world.send('break_plan.retire', plan, { replacement_id: replacement.id })).rejects.toMatchObject({
      context: { errors: [{ path: '/changes/replacement_id' }] },
    });
  const replacement = await world.publishedBreakPlan();
  const retired = await world.send('break_plan.retire', plan, { replacement_id: replacement.id });
  expect(retired).toMatchObject({ lifecycle_state: 'retired', links: { replacement: replacement.id } });
});

test('a halt names only resources of its workspace', async () => {
  const [world, other] = [createWorld(management), createWorld(management)];
  const [podcast, lineItem, creative] = [await other.podcast(), await other.lineItem(), await other.creative()];
  for (const scope of [
    { kind: 'show', podcast_id: podcast.id },
    { kind: 'line_item', line_item_id: lineItem.id },
    { kind: 'creative', creative_id: creative.id },
  ]) {
    const halt = { scope, cause: 'No.' };
    await expect(world.send('serving.halt', null, halt)).rejects.toMatchObject({ code: 'link_not_found' });
    expect(await other.send('serving.halt', null, halt)).toMatchObject({ lifecycle_state: 'active' });
  }
});
