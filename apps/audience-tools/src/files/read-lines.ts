import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A line above the limit. */
class LineTooLong extends Error {}

const newline = 10;

/** The first bytes of a file. */
export async function firstBytes(file: string, count: number): Promise<Buffer> {
  for await (const chunk of createReadStream(file, { end: count - 1 })) return chunk as Buffer;
  return Buffer.alloc(0);
}

/** The bytes of a file, unpacked when it begins as gzip does (RFC 1952), whatever its name. */
export async function openPlain(file: string): Promise<NodeJS.ReadableStream & AsyncIterable<Buffer>> {
  const [first, second] = await firstBytes(file, 2);
  const bytes = createReadStream(file, { highWaterMark: 256 * 1024 });
  // Errors of either stream reach the reader of the last one.
  return first === 0x1f && second === 0x8b ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
}

/**
 * Lines of a byte stream without their line ends, in groups as they arrive. The last line needs no line end.
 * Throws `LineTooLong`.
 * @param maxBytes of one line
 */
export async function* readLines(bytes: AsyncIterable<Buffer>, maxBytes = 16 * 1024 * 1024): AsyncGenerator<string[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let lineNumber = 0;
  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(newline);
    if (end !== -1) {
      const lines = Buffer.concat([...rest, chunk.subarray(0, end)])
        .toString('utf8')
        .split('\n');
      rest = [];
      restBytes = 0;
      lineNumber += lines.length;
      yield lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
    }
    const tail = chunk.subarray(end + 1);
    if (tail.length > 0) rest.push(tail);
    restBytes += tail.length;
    if (restBytes > maxBytes) throw new LineTooLong(`line ${lineNumber + 1} is longer than ${maxBytes} bytes`);
  }
  if (restBytes > 0) yield [Buffer.concat(rest).toString('utf8')];
}
