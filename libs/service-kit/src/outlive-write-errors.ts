type Write = (
  chunk: string | Uint8Array,
  encoding?: BufferEncoding,
  callback?: (error?: Error | null) => void,
) => boolean;

const newline = Buffer.from('\n');

/**
 * Lets a process go on when its output cannot be written (a full disk, a reader that is gone). Writes that fail are counted. The
 * first write after a failure begins on a new line, because the last one may have been cut.
 * @param onLost called with the number of writes lost since the start, when a write succeeds after some failed
 */
export function outliveWriteErrors(
  stream: NodeJS.WriteStream,
  onLost: (writesSinceStart: number) => void = () => undefined,
): void {
  const write = stream.write.bind(stream) as Write;
  let [lost, reported] = [0, 0];
  let failing = false;
  const settle = (error?: Error | null) => {
    failing = Boolean(error);
    if (failing) lost += 1;
    else if (lost > reported) onLost((reported = lost));
  };
  stream.on('error', () => undefined);
  stream.write = ((chunk, encodingOrCallback, lastCallback) => {
    const [encoding, callback] =
      typeof encodingOrCallback === 'function' ? [undefined, encodingOrCallback] : [encodingOrCallback, lastCallback];
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    return write(failing ? Buffer.concat([newline, bytes]) : bytes, undefined, (error) => {
      settle(error);
      callback?.(error);
    });
  }) as Write as typeof stream.write;
}
