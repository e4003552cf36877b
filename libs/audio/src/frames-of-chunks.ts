/**
 * The frames of a stream that comes in chunks of any sizes, holding at most one chunk and one frame.
 * @param frameAt reads the frame that begins at byte `at` of `bytes`, which is byte `offset` of the stream; undefined when `bytes` does not
 *   hold all of it. `bytes` of a frame are all of its bytes.
 * @param cut makes the error for a stream that ends inside the frame at byte `offset`
 */
export async function* framesOfChunks<F extends { readonly bytes: Uint8Array }>(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  frameAt: (bytes: Uint8Array, at: number, offset: number) => F | undefined,
  cut: (offset: number) => Error,
): AsyncGenerator<F, void> {
  let rest: Uint8Array = new Uint8Array(0);
  let offset = 0;
  for await (const chunk of chunks) {
    const bytes = rest.length ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    for (let frame = frameAt(bytes, at, offset); frame; frame = frameAt(bytes, at, offset)) {
      yield frame;
      at += frame.bytes.length;
      offset += frame.bytes.length;
    }
    rest = bytes.subarray(at);
  }
  if (rest.length) throw cut(offset);
}
