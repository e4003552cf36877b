import type { Logger } from './logger.ts';
import { outliveWriteErrors } from './outlive-write-errors.ts';
import { redact } from './redact.ts';

type Write = (chunk: string | Uint8Array, ...rest: never[]) => boolean;

/** Everything that is printed in this process, also by libraries and `console`, passes `redact`, each write by itself. */
function redactStream(stream: NodeJS.WriteStream): void {
  const write: Write = stream.write.bind(stream);
  const redacted: Write = (chunk, ...rest) =>
    write(
      typeof chunk === 'string' ? redact(chunk) : Buffer.from(redact(Buffer.from(chunk).toString('latin1')), 'latin1'),
      ...rest,
    );
  stream.write = redacted;
}

/**
 * Makes the log the only output of this process. Node prints warnings and uncaught exceptions past the standard streams, message
 * and causes as they are; here they are lines of the log. An uncaught exception ends the process with 1, as it would have. A log
 * that cannot be written ends nothing: `log.lost` says how many lines are missing once it can be written again.
 * @param currentLogger asked each time, because a service gets its final logger with its configuration
 */
export function guardOutput(currentLogger: () => Logger): void {
  for (const stream of [process.stdout, process.stderr]) {
    outliveWriteErrors(stream, (lines) => currentLogger().warn({ lines_since_start: lines }, 'log.lost'));
    redactStream(stream);
  }
  process.removeAllListeners('warning');
  process.on('warning', (warning) => currentLogger().warn({ err: warning }, 'process.warning'));
  process.on('uncaughtException', (error, origin) => {
    currentLogger().fatal({ err: error, origin }, 'service.crashed');
    process.exit(1);
  });
}
