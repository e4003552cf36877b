import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { sha256 } from '@longwave/test-kit';
import type { ObjectStore } from '../src/index.ts';

const hour = { expiresInSeconds: 3600 };
const mebibyte = 1024 ** 2;
const audio = { contentType: 'audio/mpeg' };
/** A forged URL is a wrong signature; some servers see first that the operation makes no sense. */
const refusals = [403, 400];

type SentParts = readonly [SentPart, SentPart];
interface SentPart {
  readonly partNumber: number;
  readonly etag: string;
}

const completionDocument = (parts: readonly SentPart[]) =>
  `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts
    .map((part) => `<Part><PartNumber>${part.partNumber}</PartNumber><ETag>${part.etag}</ETag></Part>`)
    .join('')}</CompleteMultipartUpload>`;

const md5 = (body: Buffer) => createHash('md5').update(body).digest('hex');
const bytes = async (body: Promise<Readable>) => buffer(await body);

/** The guarantees of uploads that a client sends in parts, by URLs that the store signed. */
export function multipartContract(store: () => ObjectStore): void {
  describe('multipart uploads by a client', () => {
    const sendPart = async (key: string, uploadId: string, partNumber: number, body: Buffer) => {
      const answer = await fetch(await store().presignPart(key, uploadId, partNumber, hour), { method: 'PUT', body });
      expect(answer.status).toBe(200);
      return { partNumber, etag: answer.headers.get('etag') ?? '' };
    };
    const complete = async (key: string, uploadId: string, parts: readonly { partNumber: number; etag: string }[]) =>
      fetch(await store().presignCompletion(key, uploadId, hour), { method: 'POST', body: completionDocument(parts) });

    test('parts go to presigned URLs in any order and the presigned completion joins them', async () => {
      const key = 'multipart/joined.mp3';
      const bodies = [randomBytes(5 * mebibyte), randomBytes(5 * mebibyte + 1), randomBytes(1000)] as const;
      const uploadId = await store().createMultipartUpload(key, audio);
      const third = await sendPart(key, uploadId, 3, bodies[2]);
      const first = await sendPart(key, uploadId, 1, bodies[0]);
      const second = await sendPart(key, uploadId, 2, bodies[1]);
      expect(first.etag).toBe(`"${md5(bodies[0])}"`);
      expect(await store().listParts(key, uploadId)).toEqual(
        bodies.map((body, index) => ({ partNumber: index + 1, etag: md5(body), sizeBytes: body.length })),
      );
      expect(await store().find(key)).toBeUndefined();

      const answer = await complete(key, uploadId, [first, second, third]);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain('<CompleteMultipartUploadResult');
      expect(sha256(await bytes(store().get(key)))).toBe(sha256(Buffer.concat(bodies)));
      const digest = md5(Buffer.concat(bodies.map((body) => Buffer.from(md5(body), 'hex'))));
      expect(await store().find(key)).toMatchObject({ etag: `${digest}-3`, contentType: 'audio/mpeg' });
      await expect(store().listParts(key, uploadId)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    });

    test('a part that is sent again replaces the one before', async () => {
      const key = 'multipart/again';
      const uploadId = await store().createMultipartUpload(key, audio);
      const old = await sendPart(key, uploadId, 1, randomBytes(100));
      const current = await sendPart(key, uploadId, 1, Buffer.from('current'));
      expect(await store().listParts(key, uploadId)).toEqual([
        { partNumber: 1, etag: current.etag.replaceAll('"', ''), sizeBytes: 7 },
      ]);
      expect((await complete(key, uploadId, [old])).status).toBe(400);
      expect((await complete(key, uploadId, [current])).status).toBe(200);
      expect((await bytes(store().get(key))).toString()).toBe('current');
    });

    test.each([
      ['a part that was never sent', 'InvalidPart', ([one]: SentParts) => [{ ...one, partNumber: 9 }]],
      ['parts in the wrong order', 'InvalidPartOrder', ([one, two]: SentParts) => [two, one]],
      ['a small part that is not the last', 'EntityTooSmall', ([one, two]: SentParts) => [one, two]],
    ])('the completion with %s is %s, and the upload stays open', async (_, code, choose) => {
      const key = `multipart/refused-${code}`;
      const uploadId = await store().createMultipartUpload(key, audio);
      const one = await sendPart(key, uploadId, 1, randomBytes(1000));
      const two = await sendPart(key, uploadId, 2, randomBytes(5 * mebibyte));
      const answer = await complete(key, uploadId, choose([one, two]));
      expect(await answer.text()).toContain(`<Code>${code}</Code>`);
      expect(answer.status).toBe(400);
      expect(await store().find(key)).toBeUndefined();
      expect(await store().listParts(key, uploadId)).toHaveLength(2);
      await store().abortMultipartUpload(key, uploadId);
    });

    test('an aborted upload takes no part and cannot be completed', async () => {
      const key = 'multipart/aborted';
      const uploadId = await store().createMultipartUpload(key, audio);
      const part = await sendPart(key, uploadId, 1, Buffer.from('part'));
      const late = await store().presignPart(key, uploadId, 2, hour);
      await store().abortMultipartUpload(key, uploadId);
      expect((await fetch(late, { method: 'PUT', body: 'late' })).status).toBe(404);
      expect((await complete(key, uploadId, [part])).status).toBe(404);
      await expect(store().listParts(key, uploadId)).rejects.toMatchObject({ code: 'NoSuchUpload' });
      expect(await store().find(key)).toBeUndefined();
    });

    test('an upload that has ended is aborted again without an error', async () => {
      const key = 'multipart/aborted-twice';
      const uploadId = await store().createMultipartUpload(key, audio);
      await store().abortMultipartUpload(key, uploadId);
      await store().abortMultipartUpload(key, uploadId);
      expect(await store().isUploadOpen(key, uploadId)).toBe(false);
    });

    test('a part URL opens no other part, key or upload', async () => {
      const key = 'multipart/bound';
      const uploadId = await store().createMultipartUpload(key, audio);
      for (const change of [
        (url: URL) => url.searchParams.set('partNumber', '2'),
        (url: URL) => url.searchParams.set('uploadId', randomUUID()),
        (url: URL) => url.searchParams.delete('uploadId'),
      ]) {
        const url = new URL(await store().presignPart(key, uploadId, 1, hour));
        change(url);
        expect(refusals).toContain((await fetch(url, { method: 'PUT', body: 'forged' })).status);
      }
      expect(await store().listParts(key, uploadId)).toEqual([]);
      await store().abortMultipartUpload(key, uploadId);
    });
  });
}
