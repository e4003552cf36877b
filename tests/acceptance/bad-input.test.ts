import { truncateSync, writeFileSync, readFileSync, copyFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeAudio, until } from '@longwave/test-kit';
import { createObjectStore } from '@longwave/object-store';
import { samples } from '@longwave/local/samples';
import pg from 'pg';
import { createPodcaster, type Installation, type Podcaster } from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

let world: Installation;
let podcaster: Podcaster;
beforeAll(async () => {
  world = await openSharedInstallation();
  podcaster = await createPodcaster(world);
});
afterAll(async () => world?.[Symbol.asyncDispose]());

async function encodingBalance(workspaceId: string): Promise<{ reserved: number; used: number }> {
  const client = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      'select sum(reserved_ms)::int as reserved, sum(used_ms)::int as used from product.encoding_balance where workspace_id = $1',
      [workspaceId],
    );
    return rows[0] as { reserved: number; used: number };
  } finally {
    await client.end();
  }
}

async function storedMedia(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of createObjectStore(world.fleet.objectStore).list('media/')) keys.push(key);
  return keys;
}

const inputs: Readonly<Record<string, { readonly code: RegExp; readonly make: (folder: string) => string }>> = {
  'an empty file': {
    code: /^media_empty$/,
    make: (folder) => {
      const file = path.join(folder, 'empty.mp3');
      writeFileSync(file, '');
      return file;
    },
  },
  'a text that calls itself mp3': {
    code: /^media_not_audio$/,
    make: (folder) => {
      const file = path.join(folder, 'letter.mp3');
      writeFileSync(file, 'Dear listeners,\n'.repeat(5000));
      return file;
    },
  },
  'a picture that calls itself mp3': {
    code: /^media_not_audio$/,
    make: (folder) => {
      const file = path.join(folder, 'picture.mp3');
      copyFileSync(samples.artwork, file);
      return file;
    },
  },
  'a truncated wav': {
    code: /^media_truncated$/,
    make: (folder) => {
      const file = makeAudio(path.join(folder, 'cut.wav'), 20);
      truncateSync(file, Math.floor(readFileSync(file).length / 3));
      return file;
    },
  },
  'a truncated m4a': {
    code: /^media_(truncated|not_audio)$/,
    make: (folder) => {
      const file = makeAudio(path.join(folder, 'cut.m4a'), 20);
      truncateSync(file, Math.floor(readFileSync(file).length / 2));
      return file;
    },
  },
};

test.each(Object.entries(inputs))(
  '%s ends in error with a finding in words, its time returned and nothing left in the store',
  async (_name, { code, make }) => {
    const { productionId, fileUrl } = await podcaster.newProduction(make(world.folder));
    const before = await encodingBalance(podcaster.account.workspaceId);
    const mediaBefore = await storedMedia();
    await podcaster.rest.post(`/productions/${productionId}/start`);
    const production = await podcaster.state(productionId, 'error', 'encoded');
    expect(production.state).toBe('error');
    expect(production.problem!.code).toMatch(code);
    expect(production.problem!.detail.length).toBeGreaterThan(10);
    expect(production.files).toEqual([]);
    expect(await encodingBalance(podcaster.account.workspaceId)).toEqual({ reserved: 0, used: before.used ?? 0 });
    const uploadId = /\/(upl_[0-9a-z]{26})\//.exec(fileUrl)![1]!;
    const store = createObjectStore(world.fleet.objectStore);
    await until('the source to be removed', async () => {
      for await (const object of store.list(`uploads/${uploadId}/`)) if (object) return undefined;
      return true;
    });
    expect(await storedMedia()).toEqual(mediaBefore);
  },
);

test('a file of another size than announced is refused with both sizes named, before a production is made', async () => {
  const episodeId = await podcaster.newEpisode('Size');
  const { file_url: fileUrl } = await podcaster.rest.post<{ file_url: string }>('/uploads', {
    filename: 'a.mp3',
    filesize: 5_000,
  });
  const [, key] = /\/f\/(upl_[0-9a-z]{26}\/a\.mp3)$/.exec(fileUrl)!;
  const bytes = Buffer.alloc(48_658);
  await createObjectStore(world.fleet.objectStore).put(`uploads/${key}`, bytes, { contentType: 'audio/mpeg' });
  const production = { episode_id: episodeId, file_url: fileUrl };
  await expect(podcaster.rest.post('/productions', production)).rejects.toThrow(/422.*5,000 bytes, but 48,658/s);
  expect(await podcaster.rest.get(`/productions?episode_id=${episodeId}`)).toEqual([]);
});

test('a text with NUL, which no database can hold, is refused wherever it stands in a request of REST API v1', async () => {
  const episodeId = await podcaster.newEpisode('NUL');
  const nul = 'a\u0000b';
  const bodies: readonly (readonly [string, string, object])[] = [
    ['POST', '/podcasts', { title: nul, language: 'en' }],
    ['POST', `/podcasts/${podcaster.podcastId}/episodes`, { title: nul }],
    ['PUT', `/episodes/${episodeId}`, { title: nul }],
    ['POST', '/uploads', { filename: `${nul}.mp3`, filesize: 5_000 }],
    ['POST', '/productions', { episode_id: episodeId, file_url: `https://example.com/${nul}.mp3` }],
  ];
  const places = [
    ...['/podcasts/%00', '/episodes/a%00b', '/productions/%00', '/media_clips/%00'],
    ...['/podcasts/%00/episodes', '/productions?episode_id=%00', '/podcasts?page=%00'],
  ];
  const send = async (method: string, place: string, body?: object) => {
    const response = await fetch(`${world.fleet.urls.base}/api/v1${place}`, {
      ...{ method, headers: { token: podcaster.account.apiKey, 'content-type': 'application/json' } },
      ...(body && { body: JSON.stringify(body) }),
    });
    return `${response.status} ${method} ${place} ${await response.text()}`;
  };
  for (const [method, place, body] of bodies) expect(await send(method, place, body)).toMatch(/^4(00|22) /);
  for (const place of places) expect(await send('GET', place)).toMatch(/^4(00|04|22) /);
});

test('twenty starts at once give one encoding', async () => {
  const { productionId } = await podcaster.newProduction(makeAudio(path.join(world.folder, 'twenty.mp3'), 20));
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, () => podcaster.rest.post<{ state: string }>(`/productions/${productionId}/start`)),
  );
  expect(answers.filter(({ status }) => status === 'rejected')).toEqual([]);
  await podcaster.state(productionId, 'encoded');
  const client = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
  await client.connect();
  const { rows } = await client.query(
    'select count(*)::int as jobs, max(attempt) as attempts from product.job where subject_id = $1',
    [productionId],
  );
  await client.end();
  expect(rows[0]).toEqual({ jobs: 1, attempts: 1 });
});
