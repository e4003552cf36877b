/**
 * The same bytes in pieces of exactly `pieceSizeBytes`, the last one shorter; no piece for no bytes.
 * @throws RangeError at the end when `sizeBytes` is given and the source had another length
 */
export async function* cutPieces(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  options: { readonly pieceSizeBytes: number; readonly sizeBytes?: number | undefined },
): AsyncGenerator<Buffer, void, void> {
  const { pieceSizeBytes, sizeBytes } = options;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let totalBytes = 0;
  for await (const chunk of source) {
    totalBytes += chunk.length;
    for (let at = 0; at < chunk.length;) {
      const taken = chunk.subarray(at, at + pieceSizeBytes - waitingBytes);
      at += taken.length;
      waiting.push(taken);
      waitingBytes += taken.length;
      if (waitingBytes < pieceSizeBytes) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      waitingBytes = 0;
    }
  }
  if (sizeBytes !== undefined && sizeBytes !== totalBytes)
    throw new RangeError(`The body has ${totalBytes} bytes, not ${sizeBytes}`);
  if (waitingBytes > 0) yield Buffer.concat(waiting);
}
