import { expect, test } from '@jest/globals';
import createClient from 'openapi-fetch';
import type { paths } from '../../generated/openapi.d.ts';
import { createDraftKeys, draftOfFile } from './draft-of-file.ts';

const file = { name: 'pilot.wav', size: 100, lastModified: 1 };

test('a draft whose answer is lost, or whose file is not taken, is the one that the same file gets when it is dropped again; then it gets another', async () => {
  /** The drafts of REST v1, by key: a repetition answers the first one. */
  const drafts = new Map<string | null, string>();
  let isLost = true;
  const send = createClient<paths>({
    baseUrl: 'http://rest.test/api/v1',
    fetch: async ({ headers }) => {
      const key = headers.get('idempotency-key');
      if (!drafts.has(key)) drafts.set(key, `ep_${drafts.size}`);
      if (isLost) throw new TypeError('Failed to fetch');
      return Response.json({ id: drafts.get(key) }, { status: 201 });
    },
  });
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
    removeItem: (name: string) => void kept.delete(name),
  };
  let use = async () => {};
  /** As each page does it: nothing is remembered but by the storage. */
  const drop = async (dropped: typeof file, podcastId = 'pod_1') =>
    draftOfFile(dropped, podcastId, { send, keys: createDraftKeys(() => storage), use: () => use() });

  await expect(drop(file)).rejects.toThrow('Failed to fetch');
  isLost = false;
  use = async () => Promise.reject(new Error('The browser keeps nothing.'));
  await expect(drop(file)).rejects.toThrow('keeps nothing');
  use = async () => {};
  expect(await drop({ ...file, lastModified: 2 })).toBe('ep_1');
  expect(await drop(file, 'pod_2')).toBe('ep_2');
  expect(await drop(file)).toBe('ep_0');
  expect(await drop(file)).toBe('ep_3');
  expect(kept.size).toBe(0);
});
