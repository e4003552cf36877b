import type { KeyKind } from './key-kinds.ts';

/** When a key was made, and when those that it replaced were, the newest first; only those that are still accepted. */
export interface RotationRecord {
  /** ISO 8601; undefined where it is not known. */
  readonly made_at?: string | undefined;
  readonly replaced_at: readonly string[];
}

/** The time at which a key that was replaced may be dropped; undefined where no time says it. */
export function droppableFrom({ former }: KeyKind, replacedAt: string): Date | undefined {
  return former.stays === 'for' ? new Date(Date.parse(replacedAt) + former.seconds * 1_000) : undefined;
}

const startOfNextMonth = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));

/** When a key that is made now is used first. */
export const usedFrom = ({ beginsNextMonth }: KeyKind, now: Date): Date =>
  beginsNextMonth ? startOfNextMonth(now) : now;

/** A record after a rotation: the key of now becomes the newest of those before, where such stay. */
export const recordRotation = (kind: KeyKind, record: RotationRecord, now: Date): RotationRecord => ({
  made_at: now.toISOString(),
  replaced_at: kind.former.stays === 'never' ? [] : [usedFrom(kind, now).toISOString(), ...record.replaced_at],
});

/** How many of the oldest keys a finish drops, and what is noted of the others; or why none. */
export type FinishPlan =
  { readonly drop: number; readonly replaced_at: readonly string[] } | { readonly refused: string };

/**
 * Decides what `keys rotate NAME --finish` does.
 * @param options.accepted keys that are there, the newest one too. A rotation that was interrupted leaves more than the record knows
 * @param options.uses what still needs one of the keys before, for keys that stay while they are used
 * @param options.isForced drops all of them whatever the time or the uses
 */
export function planFinish(
  kind: KeyKind,
  { replaced_at: replaced }: RotationRecord,
  options: { readonly now: Date; readonly accepted: number; readonly uses: number; readonly isForced: boolean },
): FinishPlan {
  const { now, accepted, uses, isForced } = options;
  const { former } = kind;
  if (former.stays === 'never')
    return { refused: 'The key before is gone as soon as the new one is used: there is nothing to finish.' };
  if (replaced.length === 0 && accepted === 1)
    return { refused: 'No key but the newest is accepted: there is nothing to finish.' };
  const all = { drop: accepted - 1, replaced_at: [] };
  if (isForced) return all;
  if (former.stays === 'while-used') {
    if (uses === 0) return all;
    return { refused: `${uses} of what the key before protects still needs it: ${former.because}.` };
  }
  if (replaced.length === 0)
    return { refused: 'A rotation was interrupted and left a key before the newest: nobody noted since when.' };
  const due = replaced.filter((at) => droppableFrom(kind, at)! <= now);
  if (due.length > 0) return { drop: Math.min(due.length, accepted - 1), replaced_at: replaced.slice(0, -due.length) };
  const from = droppableFrom(kind, replaced.at(-1)!)!.toISOString();
  return { refused: `The key before must stay until ${from}: ${former.because}.` };
}
