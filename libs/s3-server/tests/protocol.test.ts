import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createS3Server } from '../src/index.ts';
import { access, signedFetch, signHeaders, xmlText, xmlTexts, type SignedRequest } from './_s3-client.ts';

/** May read everything but closed/, and write and list only its own folder. */
const limited = {
  accessKey: 'limited',
  secretKey: 'limited-secret',
  permissions: { '': ['read'], 'own/': ['read', 'write', 'list'], 'closed/': [] },
} as const;

let folder: string;
let server: Server;
let endpoint: string;
const failures: unknown[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'longwave-s3-protocol-'));
  const { accessKey, secretKey, region } = access;
  server = createS3Server({
    folder,
    region,
    keys: [{ accessKey, secretKey }, limited],
    onError: (error) => failures.push(error),
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await send('/bucket', { method: 'PUT' });
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
  expect(failures).toEqual([]);
});

const send = async (target: string, request?: SignedRequest) => {
  const answer = await signedFetch(endpoint, target, request);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, code: xmlText(text, 'Code') };
};
const put = (key: string, body: string, headers: Record<string, string> = {}) =>
  send(`/bucket/${key}`, { method: 'PUT', body, headers });

describe('a key with permissions', () => {
  const sendLimited = (target: string, request: SignedRequest = {}) => send(target, { ...request, ...limited });

  test('does what they say, and the longest prefix decides', async () => {
    await put('open', 'x');
    await put('closed/file', 'x');
    expect((await sendLimited('/bucket/own/file', { method: 'PUT', body: 'x' })).status).toBe(200);
    expect((await sendLimited('/bucket/own/file')).text).toBe('x');
    expect(xmlTexts((await sendLimited('/bucket?prefix=own%2F')).text, 'Key')).toEqual(['own/file']);
    expect((await sendLimited('/bucket/open')).status).toBe(200);
    expect((await sendLimited('/bucket', { method: 'HEAD' })).status).toBe(200);
    expect((await sendLimited('/bucket/own/file', { method: 'DELETE' })).status).toBe(204);
  });

  const removal = (key: string) =>
    `<Delete><Object><Key>own/x</Key></Object><Object><Key>${key}</Key></Object></Delete>`;
  test.each<[string, string, SignedRequest]>([
    ['reading a closed object', '/bucket/closed/file', {}],
    ['asking for its size', '/bucket/closed/file', { method: 'HEAD' }],
    ['overwriting', '/bucket/open', { method: 'PUT', body: 'y' }],
    ['deleting', '/bucket/open', { method: 'DELETE' }],
    ['deleting one of several', '/bucket?delete', { method: 'POST', body: removal('open') }],
    ['a multipart upload', '/bucket/open?uploads', { method: 'POST' }],
    [
      'copying a closed object',
      '/bucket/own/copy',
      { method: 'PUT', headers: { 'x-amz-copy-source': '/bucket/closed/file' } },
    ],
    ['listing everything', '/bucket', {}],
    ['listing names above its own', '/bucket?prefix=o', {}],
    ['listing buckets', '/', {}],
    ['making a bucket', '/another', { method: 'PUT' }],
  ])('is refused %s, and nothing changes', async (_, target, request) => {
    await put('open', 'x');
    await put('closed/file', 'x');
    expect((await sendLimited(target, request)).status).toBe(403);
    expect((await send('/bucket/open')).text).toBe('x');
    expect((await send('/bucket/own/copy')).status).toBe(404);
  });
});

describe('authentication', () => {
  test.each([
    ['another secret', { secretKey: 'other' }, 403, 'SignatureDoesNotMatch'],
    ['another access key', { accessKey: 'other' }, 403, 'InvalidAccessKeyId'],
    ['another region', { region: 'us-east-1' }, 400, 'AuthorizationHeaderMalformed'],
    ['an old date', { signedAtMs: Date.now() - 16 * 60_000 }, 403, 'RequestTimeTooSkewed'],
    ['an unsigned header of Amazon', { unsignedHeaders: { 'x-amz-meta-added': '1' } }, 403, 'AccessDenied'],
    ['a chunked signature', { payload: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }, 501, 'NotImplemented'],
  ])('a PUT with %s is refused and stores nothing', async (_, changes, status, code) => {
    const answer = await send('/bucket/refused', { method: 'PUT', body: 'x', ...changes });
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect((await send('/bucket/refused')).status).toBe(404);
  });

  test('a large body that is refused still gets its answer', async () => {
    const answer = await send('/bucket/refused', { method: 'PUT', body: Buffer.alloc(20_000_000), secretKey: 'other' });
    expect([answer.status, answer.code]).toEqual([403, 'SignatureDoesNotMatch']);
  });

  test('an unsigned request does not learn whether a bucket or a key exists', async () => {
    for (const target of ['/bucket', '/other', '/bucket/absent', '/'])
      expect((await fetch(endpoint + target)).status).toBe(403);
  });
});

describe('buckets', () => {
  test('a bucket is made once, found, listed and located', async () => {
    expect((await send('/second', { method: 'PUT' })).status).toBe(200);
    expect((await send('/second', { method: 'PUT' })).code).toBe('BucketAlreadyOwnedByYou');
    expect((await send('/second', { method: 'HEAD' })).headers.get('x-amz-bucket-region')).toBe(access.region);
    expect((await send('/second?location')).text).toContain(`>${access.region}</LocationConstraint>`);
    expect(xmlTexts((await send('/')).text, 'Name')).toEqual(['bucket', 'second']);
  });

  test('a bucket that does not exist or cannot exist is refused', async () => {
    expect((await send('/absent', { method: 'HEAD' })).status).toBe(404);
    expect((await send('/absent/key', { method: 'PUT', body: 'x' })).code).toBe('NoSuchBucket');
    for (const name of ['..', '.tmp', 'Upper', 'a'])
      expect((await send(`/${name}/x`, { method: 'PUT', body: 'x' })).code).not.toBeUndefined();
  });
});

describe('objects', () => {
  test('the headers of an upload come back with every answer', async () => {
    const headers = {
      'content-type': 'audio/mpeg',
      'cache-control': 'max-age=60',
      'x-amz-meta-title': 'A title',
      'content-language': 'de',
    };
    await put('headers', 'body', headers);
    for (const method of ['GET', 'HEAD']) {
      const answer = await send('/bucket/headers', { method });
      for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).toBe(value);
      expect(answer.headers.get('content-length')).toBe('4');
    }
    const renamed = await send('/bucket/headers?response-content-disposition=attachment%3B%20filename%3Dx.mp3');
    expect(renamed.headers.get('content-disposition')).toBe('attachment; filename=x.mp3');
  });

  test('a copy has the bytes and the headers, or the new headers when asked, and keeps them when its source is replaced', async () => {
    await put('copy/source%20%2B', 'copied', { 'content-type': 'audio/mpeg' });
    const source = { 'x-amz-copy-source': '/bucket/copy/source%20%2B' };
    expect((await put('copy/same', '', source)).text).toContain('<CopyObjectResult');
    const same = await send('/bucket/copy/same');
    expect([same.text, same.headers.get('content-type')]).toEqual(['copied', 'audio/mpeg']);
    await put('copy/other', '', { ...source, 'x-amz-metadata-directive': 'REPLACE', 'content-type': 'text/plain' });
    expect((await send('/bucket/copy/other')).headers.get('content-type')).toBe('text/plain');
    const copyWhen = (etag: string) => put('copy/when', '', { ...source, 'x-amz-copy-source-if-match': etag });
    expect((await copyWhen('"other"')).status).toBe(412);
    expect((await copyWhen(same.headers.get('etag')!)).status).toBe(200);
    expect((await copyWhen(same.headers.get('etag')!)).status).toBe(200);
    await put('copy/source%20%2B', 'another');
    expect((await send('/bucket/copy/when')).text).toBe('copied');
    expect((await put('copy/none', '', { 'x-amz-copy-source': '/bucket/absent' })).code).toBe('NoSuchKey');
  });

  test('one PUT of more than 5 GiB is refused before its body is read, with a sentence that says what to do', async () => {
    const headers = {
      ...signHeaders(endpoint, '/bucket/large', { method: 'PUT' }),
      'content-length': String(5 * 1024 ** 3 + 1),
    };
    const asked = request(`${endpoint}/bucket/large`, { method: 'PUT', headers });
    asked.flushHeaders();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    const document = await text(answer);
    asked.destroy();
    expect([answer.statusCode, xmlText(document, 'Code'), xmlText(document, 'Message')]).toEqual([
      400,
      'EntityTooLarge',
      'One PUT takes at most 5 GiB. Send a larger file in parts.',
    ]);
  });

  test('a body that has another SHA-256 than its checksum says is refused, and nothing is stored', async () => {
    const checksum = (text: string) => createHash('sha256').update(text).digest('base64');
    const sent = (value: string) => put('summed', 'these bytes', { 'x-amz-checksum-sha256': value });
    expect(await sent(checksum('other bytes'))).toMatchObject({ status: 400, code: 'BadDigest' });
    expect(await sent('no checksum')).toMatchObject({ status: 400, code: 'InvalidRequest' });
    expect((await send('/bucket/summed')).status).toBe(404);
    expect((await sent(checksum('these bytes'))).status).toBe(200);
    expect((await send('/bucket/summed')).text).toBe('these bytes');
  });

  test('several objects are deleted at once, also those that do not exist', async () => {
    for (const key of ['many/1', 'many/2%26', 'many/3']) await put(key, key);
    const keys = ['many/1', 'many/2&amp;', 'many/absent'];
    const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;
    const answer = await send('/bucket?delete', { method: 'POST', body });
    expect(xmlTexts(answer.text, 'Key')).toEqual(keys);
    expect(xmlTexts((await send('/bucket?prefix=many')).text, 'Key')).toEqual(['many/3']);
    expect((await send('/bucket?delete', { method: 'POST', body: '<Delete/>' })).code).toBe('MalformedXML');
  });

  test('a key is never a path out of the folder', async () => {
    const target = `${endpoint}/bucket/..%2F..%2Fescape`;
    expect((await put('..%2F..%2Fescape', 'kept inside')).status).toBe(200);
    expect((await fetch(target)).status).toBe(403);
    expect(xmlTexts((await send('/bucket?prefix=..')).text, 'Key')).toEqual(['../../escape']);
  });

  test('a key of more than 1024 bytes is refused, one of 1024 is stored', async () => {
    expect((await put('k'.repeat(1025), 'x')).code).toBe('KeyTooLongError');
    expect((await put('%F0%9F%8E%99'.repeat(256), 'x')).status).toBe(200);
  });
});

describe('listings', () => {
  const keys = ['l/a', 'l/b/1', 'l/b/2', 'l/c', 'l/d/1', 'l/e'];
  beforeAll(async () => {
    for (const key of keys) await put(key, key);
  });
  const page = async (query: string) => {
    const { text } = await send(`/bucket?${query}`);
    const names = [
      ...xmlTexts(text, 'Key'),
      ...xmlTexts(text, 'CommonPrefixes').map((p) => xmlText(p ?? '', 'Prefix')),
    ];
    return { names, text };
  };

  test.each([1, 2, 3, 1000])('version 2 with pages of %i gives keys and common prefixes once', async (limit) => {
    const names: unknown[] = [];
    let token: string | undefined;
    do {
      const next = token === undefined ? '' : `&continuation-token=${token}`;
      const { names: found, text } = await page(`list-type=2&prefix=l%2F&delimiter=%2F&max-keys=${limit}${next}`);
      expect(found.length).toBe(Number(xmlText(text, 'KeyCount')));
      names.push(...found);
      token = xmlText(text, 'NextContinuationToken');
      expect(token !== undefined).toBe(xmlText(text, 'IsTruncated') === 'true');
    } while (token);
    expect(names.sort()).toEqual(['l/a', 'l/b/', 'l/c', 'l/d/', 'l/e']);
  });

  test.each([1, 2, 1000])('version 1 with pages of %i continues after its marker', async (limit) => {
    const names: unknown[] = [];
    for (let marker = ''; ;) {
      const { names: found, text } = await page(
        `prefix=l%2F&delimiter=%2F&max-keys=${limit}&marker=${encodeURIComponent(marker)}`,
      );
      names.push(...found);
      if (xmlText(text, 'IsTruncated') !== 'true') break;
      marker = xmlText(text, 'NextMarker') ?? '';
    }
    expect(names.sort()).toEqual(['l/a', 'l/b/', 'l/c', 'l/d/', 'l/e']);
  });

  test('start-after, max-keys=0 and encoding-type=url do what they say', async () => {
    expect((await page('list-type=2&prefix=l&start-after=l%2Fb%2F1')).names).toEqual(['l/b/2', 'l/c', 'l/d/1', 'l/e']);
    const none = await page('list-type=2&max-keys=0');
    expect([none.names, xmlText(none.text, 'IsTruncated')]).toEqual([[], 'false']);
    await put('enc%20%2B%01', 'x');
    expect((await page('prefix=enc&encoding-type=url')).names).toEqual(['enc%20%2B%01']);
    expect((await page('prefix=enc')).names).toEqual(['enc +&#x1;']);
  });

  test('a removed object leaves no empty folder in the way', async () => {
    await put('gone/x/y', 'x');
    await send('/bucket/gone/x/y', { method: 'DELETE' });
    expect((await page('list-type=2&prefix=gone&delimiter=%2F')).names).toEqual([]);
  });
});

describe('multipart uploads', () => {
  test('open uploads are listed until they end, and parts come in pages', async () => {
    const created = await send('/bucket/mp/key?uploads', { method: 'POST' });
    const uploadId = xmlText(created.text, 'UploadId');
    for (const n of [1, 2, 10])
      await send(`/bucket/mp/key?partNumber=${n}&uploadId=${uploadId}`, { method: 'PUT', body: `part ${n}` });
    expect(xmlTexts((await send('/bucket?prefix=mp&uploads')).text, 'UploadId')).toEqual([uploadId]);
    const first = (await send(`/bucket/mp/key?max-parts=2&uploadId=${uploadId}`)).text;
    expect([xmlTexts(first, 'PartNumber'), xmlText(first, 'IsTruncated')]).toEqual([['1', '2'], 'true']);
    const rest = (
      await send(`/bucket/mp/key?part-number-marker=${xmlText(first, 'NextPartNumberMarker')}&uploadId=${uploadId}`)
    ).text;
    expect([xmlTexts(rest, 'PartNumber'), xmlText(rest, 'IsTruncated')]).toEqual([['10'], 'false']);
    expect((await send(`/bucket/mp/other?uploadId=${uploadId}`)).code).toBe('NoSuchUpload');
    expect((await send(`/bucket/mp/key?uploadId=..%2F..%2Fx`)).code).toBe('NoSuchUpload');
    for (const n of ['0', '10001', 'x'])
      expect(
        (await send(`/bucket/mp/key?partNumber=${n}&uploadId=${uploadId}`, { method: 'PUT', body: 'x' })).code,
      ).toBe('InvalidArgument');
    expect((await send(`/bucket/mp/key?uploadId=${uploadId}`, { method: 'DELETE' })).status).toBe(204);
    expect(xmlTexts((await send('/bucket?prefix=mp&uploads')).text, 'UploadId')).toEqual([]);
  });
});

describe('what is not supported', () => {
  test.each([
    ['PUT', '/bucket?versioning'],
    ['PUT', '/bucket/key?tagging'],
    ['PUT', '/bucket/key?acl'],
    ['GET', '/bucket/key?versionId=1'],
    ['POST', '/bucket/key?select&select-type=2'],
  ])('%s %s is 501 and changes nothing', async (method, target) => {
    expect((await send(target, { method, body: method === 'GET' ? undefined : '<x/>' })).code).toBe('NotImplemented');
    expect((await send('/bucket/key')).status).toBe(404);
  });

  test('conditional writes and encryption are refused, never ignored', async () => {
    expect((await put('key', 'x', { 'if-none-match': '*' })).status).toBe(501);
    expect((await put('key', 'x', { 'x-amz-server-side-encryption': 'AES256' })).status).toBe(501);
    expect((await send('/bucket/key')).status).toBe(404);
  });

  test('another method is 405', async () => {
    expect((await send('/bucket/key', { method: 'PATCH', body: 'x' })).status).toBe(405);
  });
});

test('a browser of any origin may send parts and read their ETag', async () => {
  const preflight = await fetch(`${endpoint}/bucket/key?X-Amz-Signature=x`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://studio.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type');
  const answer = await put('cors', 'x');
  expect(answer.headers.get('access-control-expose-headers')).toContain('ETag');
});
