import type { DestinationStream } from 'pino';
import type { Logger } from './logger.ts';
import { outliveWriteErrors } from './outlive-write-errors.ts';
import { redact } from './redact.ts';

type Write = (chunk: string | Uint8Array, ...rest: never[]) => boolean;

/**
 * Everything that is printed in this process, also by libraries and `console`, passes `redact`, each write by itself. Answers how to print
 * what has no secrets already.
 */
function redactStream(stream: NodeJS.WriteStream): Write {
  const write: Write = stream.write.bind(stream);
  const redacted: Write = (chunk, ...rest) =>
    write(
      typeof chunk === 'string' ? redact(chunk) : Buffer.from(redact(Buffer.from(chunk).toString('latin1')), 'latin1'),
      ...rest,
    );
  stream.write = redacted;
  return write;
}

/** Writes the lines of one turn of the event loop, and those before the end of the process, together: each write is a system call. */
function joinLines(write: (lines: string) => void): DestinationStream {
  let waiting = '';
  const flush = () => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') write(lines);
  };
  process.on('exit', flush);
  return {
    write: (line) => {
      if (waiting === '') setImmediate(flush);
      waiting += line;
    },
  };
}

/**
 * Makes the log the only output of this process. Node prints warnings and uncaught exceptions past the standard streams, message
 * and causes as they are; here they are lines of the log. An uncaught exception ends the process with 1, as it would have. A log
 * that cannot be written ends nothing: `log.lost` says how many lines are missing once it can be written again.
 * @param currentLogger asked each time, because a service gets its final logger with its configuration
 * @returns the standard output for lines of the log, which are redacted before
 */
export function guardOutput(currentLogger: () => Logger): DestinationStream {
  const [writeLine] = [process.stdout, process.stderr].map((stream) => {
    outliveWriteErrors(stream, (lines) => currentLogger().warn({ lines_since_start: lines }, 'log.lost'));
    return redactStream(stream);
  });
  process.removeAllListeners('warning');
  process.on('warning', (warning) => currentLogger().warn({ err: warning }, 'process.warning'));
  process.on('uncaughtException', (error, origin) => {
    currentLogger().fatal({ err: error, origin }, 'service.crashed');
    process.exit(1);
  });
  return joinLines((lines) => void writeLine!(lines));
}
