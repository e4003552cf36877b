/**
 * Signed 16-bit little-endian samples of a byte stream, channels interleaved as they come; a chunk may end inside of a sample.
 * Half a sample at the end is left out.
 */
export async function* readSamples(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Int16Array, void> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    const joined = rest.length ? Buffer.concat([rest, chunk]) : chunk;
    // A view must begin at an even byte of its buffer.
    const bytes = joined.byteOffset % 2 === 0 ? joined : Uint8Array.from(joined);
    const count = bytes.length >> 1;
    yield new Int16Array(bytes.buffer, bytes.byteOffset, count);
    rest = bytes.slice(count * 2);
  }
}
