/** The chunks of a segment as buffers of their own: a stream keeps what it is given, and a segment gives the same buffer again. */
export async function* copyChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
