import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { S3Error } from './s3-error.ts';

/** The metadata of an object. */
export interface ObjectMeta {
  readonly sizeBytes: number;
  /** Without quotes. */
  readonly etag: string;
  readonly modifiedAtMs: number;
  /** Headers given at the upload and replayed with every answer (`content-type`, `x-amz-meta-…`). */
  readonly headers: Readonly<Record<string, string>>;
}

/** Size and checksums that the sender announced; each is checked when present. */
export interface BodyClaims {
  readonly sizeBytes?: number | undefined;
  /** Lower-case hex, as in `x-amz-content-sha256`. */
  readonly payloadSha256?: string | undefined;
  /** Base64, as in `Content-MD5`. */
  readonly md5?: string | undefined;
  /** Base64, as in `x-amz-checksum-sha256`. */
  readonly checksumSha256?: string | undefined;
}

/*
 * One file holds one object: its bytes, then its metadata as JSON, then the length of the JSON and a mark. A rename of the file
 * publishes all of it at once.
 */
const mark = Buffer.from('LWS3OBJ1');
const footerBytes = 4 + mark.length;
const trailerReadBytes = 4096;

/**
 * Writes a body and its metadata to a new file and syncs it to the disk.
 * @param options.etag default: the MD5 of the body
 * @throws S3Error 400 when the body does not match its claims; the caller removes the file
 */
export async function writeObjectFile(
  file: string,
  body: AsyncIterable<Buffer>,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly modifiedAtMs: number;
    readonly claims?: BodyClaims;
    readonly etag?: string;
  },
): Promise<ObjectMeta> {
  const { claims = {}, etag } = options;
  const md5 = etag === undefined || claims.md5 !== undefined ? createHash('md5') : undefined;
  const { payloadSha256, checksumSha256 } = claims;
  const sha256 = payloadSha256 === undefined && checksumSha256 === undefined ? undefined : createHash('sha256');
  let sizeBytes = 0;
  const handle = await open(file, 'wx');
  try {
    for await (const chunk of body) {
      md5?.update(chunk);
      sha256?.update(chunk);
      sizeBytes += chunk.length;
      await handle.writeFile(chunk);
    }
    const digest = md5?.digest();
    if (claims.sizeBytes !== undefined && claims.sizeBytes !== sizeBytes) throw new S3Error(400, 'IncompleteBody');
    const sum = sha256?.digest();
    if (payloadSha256 !== undefined && sum?.toString('hex') !== payloadSha256)
      throw new S3Error(400, 'XAmzContentSHA256Mismatch');
    if (checksumSha256 !== undefined && sum?.toString('base64') !== checksumSha256)
      throw new S3Error(400, 'BadDigest', 'The SHA256 you specified did not match the calculated checksum.');
    if (claims.md5 !== undefined && claims.md5 !== digest?.toString('base64')) throw new S3Error(400, 'BadDigest');
    const { headers, modifiedAtMs } = options;
    const meta: ObjectMeta = { sizeBytes, etag: etag ?? digest!.toString('hex'), modifiedAtMs, headers };
    await handle.writeFile(trailer(meta));
    await handle.sync();
    return meta;
  } finally {
    await handle.close();
  }
}

function trailer(meta: ObjectMeta): Buffer {
  const json = Buffer.from(JSON.stringify(meta));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, mark]);
}

/**
 * Opens an object; bytes and metadata are those of one version however often the key is overwritten meanwhile.
 * The caller closes the handle.
 * @throws the file system's ENOENT or ENOTDIR when there is none; Error when the file was damaged
 */
export async function openObjectFile(
  file: string,
): Promise<{ readonly handle: FileHandle; readonly meta: ObjectMeta }> {
  const handle = await open(file, 'r');
  try {
    return { handle, meta: await readMeta(handle) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readMeta(handle: FileHandle): Promise<ObjectMeta> {
  const { size } = await handle.stat();
  const damaged = () => new Error('An object file is damaged');
  const readEnd = async (length: number) => {
    const from = Math.max(0, size - length);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
    if (bytesRead !== buffer.length) throw damaged();
    return buffer;
  };
  let end = await readEnd(trailerReadBytes);
  if (end.length < footerBytes || !end.subarray(-mark.length).equals(mark)) throw damaged();
  const trailerBytes = end.readUInt32BE(end.length - footerBytes) + footerBytes;
  if (trailerBytes > end.length) end = await readEnd(trailerBytes);
  const meta = JSON.parse(end.subarray(-trailerBytes, -footerBytes).toString('utf8')) as ObjectMeta;
  if (meta.sizeBytes + trailerBytes !== size) throw damaged();
  return meta;
}

/** The bytes [from, to) of an open object, read as the consumer takes them. */
export async function* readBytes(handle: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  const stepBytes = 256 * 1024;
  for (let at = from; at < to;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(Math.min(stepBytes, to - at)), 0, undefined, at);
    if (bytesRead === 0) throw new Error('An object file ends too early');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
