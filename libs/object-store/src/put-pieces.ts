import { cutPieces } from './cut-pieces.ts';
import type { S3Client } from './s3-client.ts';

/** Above S3's minimum of 5 MiB for a part; the most of one body that is in memory. */
const pieceSizeBytes = 8 * 1024 ** 2;

/** Stores a body as one object; above 8 MiB as a multipart upload of 8 MiB parts. Answers its ETag. */
export async function putPieces(
  client: S3Client,
  bucket: string,
  key: string,
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  { contentType, sizeBytes }: { readonly contentType: string; readonly sizeBytes?: number | undefined },
): Promise<string> {
  const headers = { 'content-type': contentType };
  const pieces = cutPieces(source, { pieceSizeBytes, sizeBytes });
  const first = await pieces.next();
  const second = first.done ? first : await pieces.next();
  if (second.done) {
    const body = first.done ? Buffer.alloc(0) : first.value;
    return (await client.putObject(bucket, key, body, body.length, headers)).etag;
  }
  const uploadId = await client.initiateNewMultipartUpload(bucket, key, headers);
  try {
    const parts: { part: number; etag: string }[] = [];
    const send = async (piece: Buffer) => {
      const partNumber = parts.length + 1;
      const part = { bucketName: bucket, objectName: key, uploadID: uploadId, partNumber, headers: {} };
      parts.push({ part: partNumber, etag: (await client.uploadPart(part, piece)).etag });
    };
    await send(first.value as Buffer);
    await send(second.value);
    for await (const piece of pieces) await send(piece);
    return (await client.completeMultipartUpload(bucket, key, uploadId, parts)).etag;
  } catch (error) {
    await client.abortMultipartUpload(bucket, key, uploadId).catch(() => {});
    throw error;
  } finally {
    await pieces.return();
  }
}
