import { ExchangeRefusal, ExchangeUnreachable, InvalidMessage } from '@longwave/exchange-client';
import { typed, UsageError } from '../command.ts';
import type { ExchangeCommand } from './exchange-command.ts';
import { appendSigned } from './signed-lines.ts';
import type { Connection } from './settings.ts';

/** The file with the signed messages that got no answer: that of `--keep`, or a new one. */
function keptUnanswered({ signed }: Pick<Connection, 'signed'>, keep: string | undefined): string {
  if (keep !== undefined) return keep;
  const file = `unanswered-${signed[0]!.digest.slice('sha256:'.length, 23)}.jsonl`;
  appendSigned(file, signed);
  return file;
}

/** What the person does about an exchange that gave no answer. */
function unreachableAdvice({ name, reads }: ExchangeCommand): string {
  if (reads === 'connection') return 'Start it, and run the command again.';
  return name === 'submit'
    ? 'Start it, and run the command again: a message that was accepted is not sent twice.'
    : 'Nothing was sent. Start it, and run the command again.';
}

/**
 * Why a command failed, with what to do about it. Other errors are answered as they are.
 * @param keep file of `--keep`
 */
export function explainedFailure(
  error: unknown,
  command: ExchangeCommand,
  connection: Pick<Connection, 'settings' | 'signed'> | undefined,
  keep: string | undefined,
): unknown {
  if (error instanceof InvalidMessage) return new UsageError(`The message is wrong:\n${error.message}`);
  if (error instanceof ExchangeRefusal && error.code === 'signature_invalid' && connection) {
    const { key_file: file, kid } = connection.settings;
    return new Error(`${error.message}\n  Is ${file} the private half of ${kid}?`, { cause: error });
  }
  if (
    error instanceof ExchangeRefusal &&
    error.code === 'stream_quarantined' &&
    error.problem['rotation_opens'] !== false
  )
    return new Error(`${error.message}\n  How another key takes its place: ${typed} exchange rotate --help`, {
      cause: error,
    });
  if (!(error instanceof ExchangeUnreachable)) return error;
  if (!connection?.signed.length)
    return error.status === undefined || error.status >= 500
      ? new Error(`${error.message} ${unreachableAdvice(command)}`, { cause: error })
      : error;
  const file = keptUnanswered(connection, keep);
  return new Error(
    `${error.message} The message may have been accepted. Once it runs, send the same message again: ${typed} exchange submit ${file}. What was accepted is not sent twice.`,
    { cause: error },
  );
}
