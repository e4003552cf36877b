type Write = (
  chunk: string | Uint8Array,
  encoding?: BufferEncoding,
  callback?: (error?: Error | null) => void,
) => boolean;

const newline = Buffer.from('\n');

const countLines = (bytes: Uint8Array) =>
  Math.max(
    1,
    bytes.reduce((lines, byte) => lines + Number(byte === 0x0a), 0),
  );

/**
 * Lets a process go on when its output cannot be written (a full disk, a reader that is gone). Lines whose write fails are counted. The
 * first write after a failure begins on a new line, because the last one may have been cut.
 * @param onLost called with the number of lines lost since the start, when a write succeeds after some failed
 */
export function outliveWriteErrors(
  stream: NodeJS.WriteStream,
  onLost: (linesSinceStart: number) => void = () => undefined,
): void {
  const write = stream.write.bind(stream) as Write;
  let [lost, reported] = [0, 0];
  let failing = false;
  const settle = (bytes: Uint8Array, error?: Error | null) => {
    failing = Boolean(error);
    if (failing) lost += countLines(bytes);
    else if (lost > reported) onLost((reported = lost));
  };
  stream.on('error', () => undefined);
  stream.write = ((chunk, encodingOrCallback, lastCallback) => {
    const [encoding, callback] =
      typeof encodingOrCallback === 'function' ? [undefined, encodingOrCallback] : [encodingOrCallback, lastCallback];
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    return write(failing ? Buffer.concat([newline, bytes]) : bytes, undefined, (error) => {
      settle(bytes, error);
      callback?.(error);
    });
  }) as Write as typeof stream.write;
}
