import type { z } from 'zod';
import { productCatalog, type productions } from '@longwave/command-catalog';
import { accessOf, type Actor } from '@longwave/command-pipeline';
import type { Role } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { EncodingBalance } from './encoding-balance-table.ts';

export type Production = z.output<typeof productions.attributes>;

/** The attributes of a production that name its source. */
export type Source = Pick<Production, 'file_url' | 'upload_id' | 'storage_key'>;

/** Throws unless the plan's month has `durationMs` left, or any time when it is 0 (unknown). */
function checkEncodingTime(balance: EncodingBalance, durationMs: number): void {
  if (balance.limitMs === undefined)
    throw new Problem('temporarily_unavailable', 'The account is still being set up. Try again in a moment.', {
      retryAfterSeconds: 1,
    });
  const neededMs = Math.max(durationMs, 1);
  if (balance.limitMs !== null && balance.reservedMs + balance.usedMs + neededMs > balance.limitMs)
    throw new Problem('encoding_time_exhausted', 'Not enough encoding time left', durationMs > 0 ? { neededMs } : {});
}

/** Bytes of a millisecond at 64 kbit/s, a low bit rate for speech. */
const bytesPerMs = 8;
const guess = { leastMs: 60_000, mostMs: 3600_000 };

/**
 * Milliseconds to reserve for a file: its duration or, when that is unknown (0), a guess by its size that is never more than the time left.
 * Throws `encoding_time_exhausted` when the duration, at least 1 ms, exceeds the time left.
 */
export function reservedTime(
  balance: EncodingBalance,
  file: { readonly durationMs: number; readonly sizeBytes: number | undefined },
): number {
  const { durationMs, sizeBytes = 0 } = file;
  checkEncodingTime(balance, durationMs);
  if (durationMs > 0) return durationMs;
  const guessedMs = Math.min(Math.max(Math.ceil(sizeBytes / bytesPerMs), guess.leastMs), guess.mostMs);
  const { limitMs, reservedMs, usedMs } = balance;
  return typeof limitMs === 'number' ? Math.min(guessedMs, limitMs - reservedMs - usedMs) : guessedMs;
}

const publishers: readonly Role[] = productCatalog.commands['episode.publish'].roles;

/** Throws `permission_denied` unless the actor may publish: management itself publishes what a production asks for. */
export function checkPublish(actor: Actor, workspaceId: string): void {
  if (actor.kind === 'service') return;
  if (accessOf(actor, workspaceId, { roles: publishers }).outcome === 'permitted') return;
  throw new Problem('permission_denied', "You don't have the permission to publish.");
}

/** A new production, of which nothing is encoded. */
export const newProduction = (
  source: Source,
  settings: Pick<Production, 'episode_id' | 'imported' | 'batch_encoding_id' | 'replacement_mode' | 'declared'> & {
    readonly publication_flag?: boolean | undefined;
  },
): Production => ({
  episode_id: settings.episode_id,
  ...source,
  publication_flag: settings.publication_flag ?? false,
  ...(settings.replacement_mode !== undefined && { replacement_mode: settings.replacement_mode }),
  ...(settings.imported !== undefined && { imported: settings.imported }),
  ...(settings.batch_encoding_id !== undefined && { batch_encoding_id: settings.batch_encoding_id }),
  ...(settings.declared !== undefined && { declared: settings.declared }),
  files: [],
});

/**
 * A production ready for another start, without the results of its encoding. With another source it is no longer part of an import or a
 * batch encoding.
 */
export const resetProduction = (current: Readonly<Production>, source?: Source): Production => {
  const { episode_id, publication_flag, replacement_mode, file_url, upload_id, storage_key } = current;
  if (source) return newProduction(source, { episode_id, publication_flag, replacement_mode });
  const kept = {
    ...(file_url && { file_url }),
    ...(upload_id && { upload_id }),
    ...(storage_key && { storage_key }),
  };
  return newProduction(kept, current);
};

/** A started production with its reservation, if it has one. */
export const startedProduction = (
  current: Readonly<Production>,
  start: { readonly publish: boolean; readonly reservation?: { readonly durationMs: number; readonly month: string } },
): Production => ({
  ...current,
  publication_flag: current.publication_flag || start.publish,
  ...(start.reservation && {
    reserved_encoding_ms: start.reservation.durationMs,
    encoding_month: start.reservation.month,
  }),
});

/** A production whose encoding has ended, without its reservation. */
export function withoutReservation(current: Readonly<Production>): Production {
  const { reserved_encoding_ms: _reserved, encoding_month: _month, ...kept } = current;
  return kept;
}

/**
 * Whether a revision makes a production ready for another start. Throws `state_not_allowed` for more than `publication_flag` while it is
 * being encoded, and for another start of an encoded one from the same file.
 */
export function isReset(
  state: string,
  changes: { readonly file_url?: string | undefined; readonly state?: string | undefined },
): boolean {
  if (changes.file_url === undefined && changes.state === undefined) return false;
  if (state === 'encoding')
    throw new Problem(
      'state_not_allowed',
      'While the production is being encoded, only publication_flag may change. Stop it first.',
    );
  if (state === 'encoded' && changes.file_url === undefined)
    throw new Problem(
      'state_not_allowed',
      'The production is already encoded. Choose another file, or create another production.',
    );
  return true;
}
