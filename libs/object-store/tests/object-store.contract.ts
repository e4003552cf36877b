import { execFile } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sha256 } from '@longwave/test-kit';
import { checksumHeaders, createObjectStore, type ObjectStore } from '../src/index.ts';
import { multipartContract } from './multipart.contract.ts';

export interface S3UnderTest {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  stop(): Promise<void>;
}

const hour = { expiresInSeconds: 3600 };
const mebibyte = 1024 ** 2;
const audio = { contentType: 'audio/mpeg' };

/** The guarantees of the port that every S3 must give. Needs no bucket; makes one of its own. */
export function objectStoreContract(name: string, start: () => Promise<S3UnderTest>): void {
  describe(`The object store on ${name}`, () => {
    let s3: S3UnderTest;
    let store: ObjectStore;
    let folder: string;
    const connect = (
      changes: { readonly secretKey?: string; readonly accessKey?: string; readonly publicEndpoint?: string } = {},
    ) => createObjectStore({ ...s3, bucket, ...changes });
    const bucket = `contract-${randomUUID()}`;

    beforeAll(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'longwave-object-store-'));
      s3 = await start();
      store = connect();
      await store.ensureBucket();
    });

    afterAll(async () => {
      await s3?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    test('making the bucket again changes nothing', async () => {
      await store.put('bucket/kept', Buffer.from('kept'), audio);
      await store.ensureBucket();
      expect((await store.find('bucket/kept'))?.sizeBytes).toBe(4);
    });

    test('an object comes back as it was put, with type, size, ETag and time', async () => {
      const body = randomBytes(70_000);
      const { etag } = await store.put('basic/object.mp3', body, audio);
      expect(etag).toBe(md5(body));
      expect(sha256(await bytes(store.get('basic/object.mp3')))).toBe(sha256(body));
      const info = await store.find('basic/object.mp3');
      expect(info).toEqual({
        key: 'basic/object.mp3',
        sizeBytes: 70_000,
        etag,
        contentType: 'audio/mpeg',
        modifiedAt: expect.any(Date),
      });
      expect(Math.abs(Date.now() - (info?.modifiedAt.getTime() ?? 0))).toBeLessThan(60_000);
    });

    test('a later put replaces bytes and type together', async () => {
      await store.put('basic/replaced', Buffer.from('first version'), audio);
      await store.put('basic/replaced', Buffer.from('second'), { contentType: 'text/plain' });
      expect((await bytes(store.get('basic/replaced'))).toString()).toBe('second');
      expect(await store.find('basic/replaced')).toMatchObject({ contentType: 'text/plain', sizeBytes: 6 });
    });

    test('an empty object is an object', async () => {
      await store.put('basic/empty', Readable.from([]), audio);
      expect((await store.find('basic/empty'))?.sizeBytes).toBe(0);
      expect(await bytes(store.get('basic/empty'))).toHaveLength(0);
    });

    test.each([
      'keys/with space+plus%25&=?#.mp3',
      "keys/ümläut 'quoted' (1)!*.mp3",
      'keys/日本語/🎙.mp3',
      'keys/<xml>&amp;"',
    ])('the key %s can be put, found, got, presigned and removed', async (key) => {
      const body = Buffer.from(key);
      await store.put(key, body, audio);
      expect((await store.find(key))?.key).toBe(key);
      expect((await bytes(store.get(key))).toString()).toBe(key);
      expect(await (await fetch(await store.presignGet(key, hour))).text()).toBe(key);
      await store.remove(key);
      expect(await store.find(key)).toBeUndefined();
    });

    test('an absent object is not found, and getting it is the problem object_not_found', async () => {
      expect(await store.find('absent/object')).toBeUndefined();
      await expect(store.get('absent/object')).rejects.toMatchObject({ code: 'object_not_found' });
      await expect(store.get('absent/object', { from: 3, to: 3 })).rejects.toMatchObject({ code: 'object_not_found' });
      await expect(store.getFile('absent/object', path.join(folder, 'absent'))).rejects.toMatchObject({
        code: 'object_not_found',
      });
      await store.remove('absent/object');
    });

    test('a removed object is gone', async () => {
      await store.put('removed/object', Buffer.from('x'), audio);
      await store.remove('removed/object');
      expect(await store.find('removed/object')).toBeUndefined();
      expect(await keys(store.list('removed/'))).toEqual([]);
    });

    test('a body of another size than announced is refused and nothing is stored', async () => {
      const short = store.put('basic/short', Readable.from([Buffer.alloc(10)]), { ...audio, sizeBytes: 11 });
      await expect(short).rejects.toThrow(RangeError);
      expect(await store.find('basic/short')).toBeUndefined();
    });

    test('a source that fails in the middle stores nothing and leaves no open upload', async () => {
      async function* failing() {
        yield randomBytes(20 * mebibyte);
        yield randomBytes(20 * mebibyte);
        throw new Error('the source broke');
      }
      await expect(store.put('basic/broken', Readable.from(failing()), audio)).rejects.toThrow('the source broke');
      expect(await store.find('basic/broken')).toBeUndefined();
    });

    test('a file of several parts goes up and comes down unchanged, and the download leaves no partial file', async () => {
      const source = path.join(folder, 'source');
      const target = path.join(folder, 'target');
      await writeFile(source, randomBytes(40 * mebibyte + 17));
      await store.putFile('files/several-parts', source, audio);
      await store.getFile('files/several-parts', target);
      expect(await sha256OfFile(target)).toBe(await sha256OfFile(source));
      expect(await store.find('files/several-parts')).toMatchObject({
        sizeBytes: 40 * mebibyte + 17,
        contentType: 'audio/mpeg',
      });
      expect((await readdir(folder)).sort()).toEqual(['source', 'target']);
    });

    describe('ranges', () => {
      const body = randomBytes(100_000);
      const ranged = async (range: string, headers: Record<string, string> = {}) =>
        fetch(await store.presignGet('ranges/object', hour), { headers: { range, ...headers } });

      beforeAll(() => store.put('ranges/object', body, audio));

      test.each([
        [0, 1],
        [0, 100_000],
        [99_999, 100_000],
        [12_345, 67_890],
        [50_000, 50_000],
      ])('the interval [%i, %i) has exactly these bytes', async (from, to) => {
        expect(sha256(await bytes(store.get('ranges/object', { from, to })))).toBe(sha256(body.subarray(from, to)));
      });

      test('an interval that reaches over the end stops at the end', async () => {
        expect(await bytes(store.get('ranges/object', { from: 99_990, to: 200_000 }))).toEqual(body.subarray(99_990));
      });

      test('an interval behind the end is the problem range_not_satisfiable', async () => {
        const outside = store.get('ranges/object', { from: 100_000, to: 100_001 });
        await expect(outside).rejects.toMatchObject({ code: 'range_not_satisfiable' });
        expect((await ranged('bytes=100000-')).status).toBe(416);
      });

      test('a raw range and a suffix range are 206 with the right Content-Range', async () => {
        const middle = await ranged('bytes=10-19');
        expect([middle.status, middle.headers.get('content-range')]).toEqual([206, 'bytes 10-19/100000']);
        expect(Buffer.from(await middle.arrayBuffer())).toEqual(body.subarray(10, 20));
        const suffix = await ranged('bytes=-500');
        expect([suffix.status, suffix.headers.get('content-range')]).toEqual([206, 'bytes 99500-99999/100000']);
        expect(Buffer.from(await suffix.arrayBuffer())).toEqual(body.subarray(99_500));
      });

      test('a client that has the current version gets 304 and no bytes', async () => {
        const url = await store.presignGet('ranges/object', hour);
        const etag = (await fetch(url)).headers.get('etag') ?? '';
        expect(etag).toBe(`"${md5(body)}"`);
        const again = await fetch(url, { headers: { 'if-none-match': etag } });
        expect([again.status, await again.text()]).toEqual([304, '']);
        expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
      });
    });

    test('only the named version is copied', async () => {
      const body = randomBytes(70_000);
      const { etag } = await store.put('copy/it’s a source.mp3', body, audio);
      expect(await store.copy('copy/it’s a source.mp3', 'copy/copied', { etag: md5(Buffer.from('other')) })).toBe(
        false,
      );
      expect(await store.copy('copy/absent', 'copy/copied', { etag })).toBe(false);
      expect(await store.find('copy/copied')).toBeUndefined();
      expect(await store.copy('copy/it’s a source.mp3', 'copy/copied', { etag })).toBe(true);
      await store.put('copy/it’s a source.mp3', Buffer.from('another'), audio);
      expect(sha256(await bytes(store.get('copy/copied')))).toBe(sha256(body));
      expect(await store.find('copy/copied')).toMatchObject({ etag, sizeBytes: 70_000, contentType: 'audio/mpeg' });
    });

    describe('presigned URLs', () => {
      const put = (url: string, body: string | Buffer = 'uploaded') => fetch(url, { method: 'PUT', body });

      test('a presigned PUT stores the body, with the type the client sends', async () => {
        const url = await store.presignPut('presigned/put.mp3', hour);
        const answer = await fetch(url, { method: 'PUT', body: 'uploaded', headers: { 'content-type': 'audio/mpeg' } });
        expect(answer.status).toBe(200);
        expect(await store.find('presigned/put.mp3')).toMatchObject({ sizeBytes: 8, contentType: 'audio/mpeg' });
        expect(await (await fetch(await store.presignGet('presigned/put.mp3', hour))).text()).toBe('uploaded');
      });

      test('a presigned PUT for a length takes a body of this length and no other', async () => {
        const lengthy = { ...hour, sizeBytes: 8 };
        for (const body of ['short', 'too long for it'])
          expect((await put(await store.presignPut('presigned/sized.mp3', lengthy), body)).status).toBe(403);
        expect(await store.find('presigned/sized.mp3')).toBeUndefined();
        expect((await put(await store.presignPut('presigned/sized.mp3', lengthy))).status).toBe(200);
        expect(await store.find('presigned/sized.mp3')).toMatchObject({ sizeBytes: 8 });
      });

      test('a presigned PUT for a length and a checksum takes these bytes and no others', async () => {
        const body = Buffer.from('uploaded');
        const url = await store.presignPut('presigned/summed.mp3', { ...hour, sizeBytes: 8, sha256: sha256(body) });
        const send = async (sent: string, headers: Readonly<Record<string, string>>) =>
          (await fetch(url, { method: 'PUT', body: sent, headers })).status;
        const signed = checksumHeaders(sha256(body));
        // Other bytes of the same length under the signed header, under a header of their own, and without one.
        expect(await send('replaced', signed)).toBe(400);
        expect(refusals).toContain(await send('replaced', checksumHeaders(sha256(Buffer.from('replaced')))));
        expect(refusals).toContain(await send('replaced', {}));
        expect(refusals).toContain(await send('too long for it', signed));
        expect(await store.find('presigned/summed.mp3')).toBeUndefined();
        expect(await send('uploaded', signed)).toBe(200);
        const { etag } = (await store.find('presigned/summed.mp3'))!;
        expect(await store.copy('presigned/summed.mp3', 'presigned/summed-copy.mp3', { etag })).toBe(true);
        expect((await bytes(store.get('presigned/summed-copy.mp3'))).toString()).toBe('uploaded');
      });

      test('a presigned URL stores nothing after its last second', async () => {
        const url = await store.presignPut('presigned/expired', { expiresInSeconds: 1 });
        const getUrl = await store.presignGet('presigned/put.mp3', { expiresInSeconds: 1 });
        const signedAt = new URL(url).searchParams.get('X-Amz-Date') ?? '';
        await clockReaches(signedAt, 2000);
        expect((await put(url)).status).toBe(403);
        expect((await fetch(getUrl)).status).toBe(403);
        expect(await store.find('presigned/expired')).toBeUndefined();
      });

      test('a lifetime outside of 1 second to 7 days is refused by the port', async () => {
        for (const expiresInSeconds of [0, -1, 1.5, 604_801])
          await expect(store.presignPut('presigned/lifetime', { expiresInSeconds })).rejects.toThrow(RangeError);
      });

      test.each([
        ['a changed signature', (url: URL) => url.searchParams.set('X-Amz-Signature', '0'.repeat(64))],
        ['a longer lifetime', (url: URL) => url.searchParams.set('X-Amz-Expires', '7200')],
        ['another key', (url: URL) => (url.pathname += '-other')],
        ['an added parameter', (url: URL) => url.searchParams.set('partNumber', '1')],
      ])('%s is refused and stores nothing', async (_, change) => {
        const url = new URL(await store.presignPut('presigned/forged', hour));
        change(url);
        expect(refusals).toContain((await put(url.href)).status);
        expect(await keys(store.list('presigned/forged'))).toEqual([]);
      });

      test('a URL signed with another secret is refused', async () => {
        const stranger = connect({ secretKey: 'not-the-secret-of-this-store' });
        expect((await put(await stranger.presignPut('presigned/stranger', hour))).status).toBe(403);
        await expect(stranger.put('presigned/stranger', Buffer.from('x'), audio)).rejects.toThrow();
        expect(await store.find('presigned/stranger')).toBeUndefined();
      });

      test('a URL for one method does not open another', async () => {
        await store.put('presigned/method', Buffer.from('before'), audio);
        const getUrl = await store.presignGet('presigned/method', hour);
        expect((await put(getUrl)).status).toBe(403);
        expect((await fetch(getUrl, { method: 'DELETE' })).status).toBe(403);
        expect((await fetch(await store.presignPut('presigned/method', hour))).status).toBe(403);
        expect((await bytes(store.get('presigned/method'))).toString()).toBe('before');
      });

      test('an unsigned request is refused, for reading and for writing', async () => {
        const url = (await store.presignGet('presigned/method', hour)).split('?')[0] ?? '';
        expect((await fetch(url)).status).toBe(403);
        expect((await put(url)).status).toBe(403);
        expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
        expect((await fetch(`${s3.endpoint}/${bucket}?list-type=2`)).status).toBe(403);
      });

      test('URLs are signed for the public endpoint, whichever the store itself uses', async () => {
        const host = 'media.example.test:8443';
        const url = new URL(await connect({ publicEndpoint: `https://${host}` }).presignPut('a b/c.mp3', hour));
        expect([url.protocol, url.host, url.pathname]).toEqual(['https:', host, `/${bucket}/a%20b/c.mp3`]);
        expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('host');
      });
    });

    multipartContract(() => store);

    test('a listing of more than one page is complete and in the order of the keys', async () => {
      const names = Array.from({ length: 1100 }, (_, index) => `list/${index % 3}/${index.toString(36)} x.json`);
      const extra = ['list/a-b', 'list/a/b', 'list/a0', 'list/A', 'list/ü', 'list/日本語', 'list/007'];
      const all = [...names, ...extra].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      for (let at = 0; at < all.length; at += 50)
        await Promise.all(all.slice(at, at + 50).map((key) => store.put(key, Buffer.from(key), audio)));
      const listed = await collect(store.list('list/'));
      expect(listed.map((info) => info.key)).toEqual(all);
      expect(
        listed.every((info) => info.sizeBytes === Buffer.byteLength(info.key) && /^[0-9a-f]{32}$/.test(info.etag)),
      ).toBe(true);
      expect(await keys(store.list('list/a'))).toEqual(['list/a-b', 'list/a/b', 'list/a0']);
    }, 120_000);

    test('200 MB stream up and down without being held in memory', async () => {
      const script = path.join(import.meta.dirname, 'stream-large-object.ts');
      const settings = JSON.stringify({ ...s3, bucket, sizeBytes: 200_000_000 });
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--disable-warning=ExperimentalWarning',
        script,
        settings,
      ]);
      const { sentSha256, receivedSha256, maxResidentBytes } = JSON.parse(stdout) as Record<string, string | number>;
      expect(receivedSha256).toBe(sentSha256);
      expect(maxResidentBytes).toBeLessThan(250_000_000);
      expect((await store.find('large/object'))?.sizeBytes).toBe(200_000_000);
    }, 120_000);
  });
}

/** A forged URL is a wrong signature; some servers see first that the operation makes no sense. */
const refusals = [403, 400];

const md5 = (body: Buffer) => createHash('md5').update(body).digest('hex');
const bytes = async (body: Promise<Readable>) => buffer(await body);
const keys = async (list: AsyncIterable<{ readonly key: string }>) => (await collect(list)).map((info) => info.key);
async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}
const sha256OfFile = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

/** Waits until the clock is `ms` after the second of an `X-Amz-Date`: the end of a lifetime has no other event. */
async function clockReaches(amzDate: string, ms: number): Promise<void> {
  const iso = amzDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const left = Date.parse(iso) + ms - Date.now();
  if (left > 0) await once(AbortSignal.timeout(left), 'abort');
}
