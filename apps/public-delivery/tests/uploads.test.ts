import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import type { DeliveryApp } from '../src/app.ts';
import { apply } from './_apply.ts';
import { askAt } from './_ask.ts';
import { eventOf, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

describe('public uploads', () => {
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  async function grant(type: string, state = 'granted', contentType = 'image/png'): Promise<string> {
    const id = newId('upl');
    const key = `uploads/${id}/art.png`;
    await bench.store.put(key, png, { contentType });
    const attributes = {
      filename: 'ärt.png',
      content_type: contentType,
      upload_type: type,
      storage_key: key,
      file_url: `http://media.test/delivery/v1/f/${id}/art.png`,
    };
    await apply(bench, eventOf('uploads', id, 1, state, attributes));
    return `/delivery/v1/f/${id}/art.png`;
  }

  test('are served whole and in ranges, by their exact name', async () => {
    const path = await grant('public');
    const whole = await ask(path);
    expect([whole.status, whole.headers['content-type'], whole.body]).toEqual([200, 'image/png', png]);
    const part = await ask(path, { range: 'bytes=-2' });
    expect([part.status, part.headers['content-range'], part.body]).toEqual([206, 'bytes 6-7/8', png.subarray(-2)]);
    expect((await ask(path, {}, 'HEAD')).headers['content-length']).toBe('8');
    expect((await ask(path, { 'if-none-match': whole.headers.etag! })).status).toBe(304);
    expect((await ask(path.replace('art.png', 'other.png'))).status).toBe(404);
  });

  test('a type that a browser could run is only offered for download', async () => {
    const answer = await ask(await grant('public', 'granted', 'image/svg+xml'));
    expect(answer.headers['content-disposition']).toBe('attachment');
    expect(answer.headers['content-security-policy']).toContain('sandbox');
  });

  test.each([
    ['private', 'granted'],
    ['temporary', 'granted'],
    ['public', 'aborted'],
    ['temporary', 'expired'],
  ])('a %s upload (%s) is not found', async (type, state) => {
    expect((await ask(await grant(type, state))).status).toBe(404);
  });

  test('an expired one is gone', async () => {
    expect((await ask(await grant('public', 'expired'))).status).toBe(410);
  });
});
