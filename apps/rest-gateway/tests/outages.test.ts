import { expect, test } from '@jest/globals';
import { fixtures, startGateway } from './_support.ts';

const away = { code: 503, message: 'The service is temporarily unavailable. Please repeat the request later.' };

test('without auth-server every credential gets 503, never 401', async () => {
  await using gateway = await startGateway({ down: ['authServer'] });
  const response = await gateway.get('/podcasts');
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([503, '1', away]);
});

test('without management reads and writes get 503 and the members of the account are still read', async () => {
  await using gateway = await startGateway({ down: ['management'] });
  for (const response of [
    await gateway.get('/podcasts'),
    await gateway.post('/podcasts', { title: 'T', language: 'en' }),
  ])
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([503, '1', away]);
  expect((await gateway.get('/account/members')).status).toBe(200);
});

test('without analytics-sink analytics get 503', async () => {
  await using gateway = await startGateway({ down: ['analyticsSink'] });
  const response = await gateway.get(`/podcasts/${fixtures['podcast_published']!.id}/analytics?days_offset=1`);
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([503, '1', away]);
});

test('without public-delivery episodes are shown, without the addresses of their audio', async () => {
  await using gateway = await startGateway({ down: ['publicDelivery'] });
  const { id } = fixtures['episode_other']!;
  const response = await gateway.get(`/episodes/${id}`);
  const episode = (await response.json()) as object;
  expect([response.status, episode]).toEqual([200, expect.objectContaining({ id })]);
  expect(episode).not.toHaveProperty('enclosure_url');
});

test.each([
  ['authServer', '/account'],
  ['management', '/podcasts'],
  ['analyticsSink', `/podcasts/${fixtures['podcast_published']!.id}/analytics?days_offset=1`],
] as const)(
  'a running gateway that loses %s answers 503 with a wait and the words for it',
  async (name, path) => {
    await using gateway = await startGateway();
    expect((await gateway.get(path)).status).toBe(200);
    await gateway.stop(name);
    const response = await gateway.get(path);
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([503, '1', away]);
  },
  60_000,
);

test('without Redis requests pass uncounted, uploads are granted, and the log counts them', async () => {
  await using gateway = await startGateway({ down: ['redis'] });
  gateway.scene.given = { commands: { 'upload.grant': [{ resource: 'upload', replayed: true }] } };
  for (let i = 0; i < 3; i++) {
    const response = await gateway.get('/account', 'slow');
    expect([response.status, response.headers.get('ratelimit-limit')]).toEqual([200, null]);
  }
  expect((await gateway.post('/uploads', { filename: 'one.wav' })).status).toBe(201);
  expect(gateway.logLines.filter((line) => line.includes('rate_limit.uncounted')).at(-1)).toContain('"uncounted":4');
});
