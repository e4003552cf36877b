import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

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
