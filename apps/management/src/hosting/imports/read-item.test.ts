import { expect, test } from '@jest/globals';
import { readItem } from './read-item.ts';

test('an item cannot make the import fetch files without end', () => {
  const transcripts = Array.from(
    { length: 5_000 },
    (_, n) => `<podcast:transcript url="https://host.example/${n}.vtt" type="text/vtt" language="en"/>`,
  );
  const { item, notes } = readItem(`<item><guid>1</guid>${transcripts.join('')}</item>`) as Extract<
    ReturnType<typeof readItem>,
    { item: object }
  >;
  expect(item.transcripts).toHaveLength(60);
  expect(notes.list).toContainEqual({
    kind: 'lost',
    field: 'transcripts',
    detail: 'Only the first 60 of 5000 are looked at.',
  });
});
