import { expect, test } from '@jest/globals';
import decodeQR from 'qr/decode.js';
import { qrCode } from './qr-code.ts';

test('a reader finds the text in the squares that are drawn', () => {
  const text = 'otpauth://totp/Longwave:ada%40example.com?issuer=Longwave&secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const drawn = qrCode(text, 'A code').text;
  const size = Number(/viewBox="0 0 (\d+)/.exec(drawn)?.[1]);
  const scale = 4;
  const width = size * scale;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x = '', y = ''] of drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let dx = 0; dx < scale; dx++)
      for (let dy = 0; dy < scale; dy++)
        data.set([0, 0, 0], ((Number(y) * scale + dy) * width + Number(x) * scale + dx) * 4);
  expect(decodeQR({ width, height: width, data })).toBe(text);
});
