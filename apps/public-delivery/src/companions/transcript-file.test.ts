import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { readTranscript } from './transcript-file.ts';

test('a transcript that the store does not give, or breaks off, can be asked for again', async () => {
  const away = () => Promise.reject(new Error('the store is away'));
  const broken = async () =>
    Readable.from(
      (async function* () {
        yield Buffer.from('{"version":');
        throw new Error('the store went away');
      })(),
    );
  for (const get of [away, broken])
    await expect(readTranscript({ get }, 'transcripts/1')).rejects.toMatchObject({ code: 'temporarily_unavailable' });
});

test('a file that is larger than any stored transcript is not read to its end', async () => {
  let chunks = 0;
  const get = async () =>
    Readable.from(
      (function* () {
        for (; chunks < 1_000; chunks += 1) yield Buffer.alloc(1 << 20, ' ');
      })(),
    );
  await expect(readTranscript({ get }, 'transcripts/1')).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(chunks).toBeLessThan(100);
});
