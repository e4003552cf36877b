import type { z } from 'zod';
import { productCatalog, type productions } from '@longwave/command-catalog';
import { accessOf, type Actor } from '@longwave/command-pipeline';
import type { Role } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { EncodingBalance } from './encoding-balance-table.ts';

export type Production = z.output<typeof productions.attributes>;

/** The attributes of a production that name its source. */
export type Source = Pick<Production, 'file_url' | 'upload_id' | 'storage_key'>;

/** Throws unless the plan's month has room for `durationMs` more, or for anything when it is 0 (unknown). */
function checkEncodingTime(balance: EncodingBalance, durationMs: number): void {
  if (balance.limitMs === undefined)
    throw new Problem('temporarily_unavailable', 'The account is still being set up. Try again in a moment.', {
      retryAfterSeconds: 1,
    });
  const neededMs = Math.max(durationMs, 1);
  if (balance.limitMs !== null && balance.reservedMs + balance.usedMs + neededMs > balance.limitMs)
    throw new Problem('encoding_time_exhausted', 'Not enough encoding time left', durationMs > 0 ? { neededMs } : {});
}

/** Bytes in a millisecond at 64 kbit/s, the least that speech is commonly sent with. */
const bytesPerMs = 8;
const guess = { leastMs: 60_000, mostMs: 3600_000 };

/**
 * Milliseconds to reserve for a file: its duration or, when nobody could tell it (0), a guess by its size, but never more
 * than is left. Throws `encoding_time_exhausted` when the duration, at least 1 ms, exceeds what is left.
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

/** A production that nothing was made of yet. */
export const newProduction = (
  source: Source,
  asked: Pick<Production, 'episode_id' | 'imported' | 'batch_encoding_id' | 'replacement_mode'> & {
    readonly publication_flag?: boolean | undefined;
  },
): Production => ({
  episode_id: asked.episode_id,
  ...source,
  publication_flag: asked.publication_flag ?? false,
  ...(asked.replacement_mode !== undefined && { replacement_mode: asked.replacement_mode }),
  ...(asked.imported !== undefined && { imported: asked.imported }),
  ...(asked.batch_encoding_id !== undefined && { batch_encoding_id: asked.batch_encoding_id }),
  files: [],
});

/**
 * A production ready for another start: what an earlier encoding made or found is gone. Another source is the client's own:
 * nothing of an import or a batch encoding is left.
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

/** A started production: the reservation, unless there is none, is written down. */
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

/** A production whose encoding ended: nothing is reserved for it any more. */
export function withoutReservation(current: Readonly<Production>): Production {
  const { reserved_encoding_ms: _reserved, encoding_month: _month, ...kept } = current;
  return kept;
}

/**
 * Whether a revision makes a production ready for another start. Throws `state_not_allowed`: while it is encoded only
 * `publication_flag` may change, and what is encoded is encoded again only from another file.
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
