import { expect, test } from '@jest/globals';
import { claimableKinds } from './claimable-kinds.ts';

const takes = (slots: number, ...kinds: string[]) =>
  ['encode_hls_video', 'encode_creative_pictures', 'encode_production'].map((kind) =>
    (
      claimableKinds(
        kinds.map((running) => ({ kind: running })),
        slots,
      ) as readonly string[]
    ).includes(kind),
  );

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 2],
  [5, 3],
])('of %d slots pictures take at most %d, of ads and of episodes together', (slots, most) => {
  const pictures = Array.from({ length: most }, (_none, at) =>
    at % 2 ? 'encode_creative_pictures' : 'encode_hls_video',
  );
  expect(takes(slots, ...pictures.slice(1), 'encode_production')).toEqual([true, true, true]);
  expect(takes(slots, ...pictures)).toEqual([false, false, true]);
});
