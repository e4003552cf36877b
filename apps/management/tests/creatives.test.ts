import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

test('an ad that a host reads names the podcast at its submission at the latest, and no other ad names one', async () => {
  const world = createWorld(management);
  const disclosure = 'Advertisement';
  const creative = await world.hostReadCreative();
  const codes = async (attempt: Promise<unknown>) =>
    (await refusalOf(attempt)).context.errors?.map(({ path, code }) => [path, code]);
  const path = '/changes/host_podcast_id';
  expect(await codes(world.send('creative.submit', creative, { disclosure }))).toEqual([[path, 'required']]);
  const named = (id: string) => world.send('creative.submit', creative, { disclosure, host_podcast_id: id });
  expect(await codes(named(newId('pod')))).toEqual([[path, 'link_not_found']]);
  const { id } = await world.podcast();
  expect((await named(id)).attributes['host_podcast_id']).toBe(id);
  const produced = await world.creative();
  const revise = (changes: object, of = produced) => world.send('creative.revise', of, changes);
  expect(await codes(revise({ host_podcast_id: id }))).toEqual([[path, 'not_host_read']]);
  const read = await revise({ production: 'host_read', host_podcast_id: id });
  expect((await revise({ production: 'produced' }, read)).attributes).not.toHaveProperty('host_podcast_id');
});

test('attached media is prepared at loudnesses that leave no usual episode more than 1 LU away', async () => {
  const { creative } = await createWorld(management).processingCreative();
  const { rows } = await management.pool.query<{ input: { loudness_targets_lufs: number[] } }>(
    'select input from job where subject_id = $1',
    [creative.id],
  );
  expect(rows).toHaveLength(1);
  const { loudness_targets_lufs: targets, ...input } = rows[0]!.input;
  expect(input).toEqual({
    creative_id: creative.id,
    storage_key: expect.stringMatching(/^uploads\//),
    source_etag: expect.stringMatching(/^[0-9a-f]{32}/),
  });
  for (let episode = -24; episode <= -14; episode += 0.5)
    expect(Math.min(...targets.map((target) => Math.abs(target - episode)))).toBeLessThanOrEqual(1);
});

test('a demand source belongs to a non-guaranteed line item of its workspace with a price that reaches its floor', async () => {
  const world = createWorld(management);
  const create = (lineItemId: string, given?: object) =>
    refusalOf(world.send('demand_source.create', null, world.demandSourceChanges(lineItemId, given)));
  const codes = async (attempt: ReturnType<typeof create>) =>
    (await attempt).context.errors?.map(({ path, code }) => [path, code]);
  const { id } = await world.demandLineItem();
  const foreign = await createWorld(management).demandLineItem();
  expect(await create(foreign.id)).toMatchObject({ code: 'link_not_found' });
  expect(await codes(create((await world.lineItem()).id))).toEqual([['/changes/line_item_id', 'not_by_the_thousand']]);
  const floor = (micros: string, currency = 'EUR') => ({ floor: { amount_micros: micros, currency } });
  expect(await codes(create(id, floor('8000001')))).toEqual([['/changes/floor', 'price_below_floor']]);
  const at = (endpoint: string) => codes(create(id, { endpoint }));
  expect(await at('http://ads.example/vast')).toEqual([['/changes/endpoint', 'not_an_https_address']]);
  expect(await at('https://elsewhere.example/')).toEqual([['/changes/endpoint', 'host_not_allowed']]);
  const below = { endpoint: 'https://eu.ads.example/', allowed_hosts: ['*.ads.example'], ...floor('8000000') };
  await world.send('demand_source.create', null, world.demandSourceChanges(id, below));
});
