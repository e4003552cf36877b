/** Frames of AAC-LC, 48 kHz, stereo, with an ADTS header each; their sound is `payloads`, which no decoder would take. */
export const adtsOf = (payloads: readonly Uint8Array[]): Buffer =>
  Buffer.concat(
    payloads.flatMap((payload) => {
      const length = payload.length + 7;
      return [
        Buffer.from([
          0xff,
          0xf1,
          (1 << 6) | (3 << 2),
          (2 << 6) | (length >> 11),
          (length >> 3) & 0xff,
          ((length & 7) << 5) | 0x1f,
          0xfc,
        ]),
        payload,
      ];
    }),
  );

/** `count` payloads of different lengths and contents. */
export const payloads = (count: number, seed = 1): Uint8Array[] =>
  Array.from({ length: count }, (_, frame) =>
    new Uint8Array(5 + ((frame * 7 + seed) % 23)).fill((frame * 31 + seed) & 0xff),
  );
