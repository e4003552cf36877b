import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createKeptTranscripts } from './kept-transcripts.ts';

/** A store with one transcript of so many characters under each key; notes which were read. */
function storeOf(characters: number) {
  const read: string[] = [];
  const cue = { start_ms: 0, end_ms: 1, text: 'x'.repeat(10_000) };
  const body = JSON.stringify({ version: 1, cues: Array.from({ length: characters / 10_000 }, () => cue) });
  return {
    read,
    get: async (key: string) => {
      read.push(key);
      if (key === 'away' && read.length === 1) throw new Error('the store is away');
      return Readable.from([Buffer.from(body)]);
    },
  };
}

test('a transcript is read from the store once, also by concurrent readers', async () => {
  const store = storeOf(10_000);
  const read = createKeptTranscripts(store);
  const [first, second] = await Promise.all([read('a'), read('a')]);
  expect([first === second, (await read('a')) === first, store.read]).toEqual([true, true, ['a']]);
});

test('one that the store did not give is asked for again', async () => {
  const store = storeOf(10_000);
  const read = createKeptTranscripts(store);
  await expect(read('away')).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect((await read('away')).cues).toHaveLength(1);
});

test('the least recently read ones are given up, by their characters', async () => {
  const store = storeOf(8_000_000);
  const read = createKeptTranscripts(store);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await read(key);
  expect(store.read).toEqual(['a', 'b', 'c', 'b']);
});
