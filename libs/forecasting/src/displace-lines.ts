import type { SimulatedPlay } from './compose-plays.ts';
import { createLineSet } from './line-fits.ts';
import { createRecords, decideAmong, lackingShare, type Extended, type PlacedPick } from './replay-baseline.ts';

/** A play that is decided again, and for how many it stands. */
export interface ReplayedPlay {
  readonly at: number;
  readonly unit: number;
  /** Of each break whether the prospective line item fits it; undefined where it fits none. */
  readonly fits: readonly boolean[] | undefined;
}

/** Units of a simulation. */
export interface Displacement {
  /** What the prospective line item had. */
  readonly won: number;
  /** What each other line item lost, by ordinal; what it found elsewhere is taken off. */
  readonly lost: Float64Array;
}

/** Runs with the prospective line item at its own place: a line item that loses a slot has credit, and may win another play with it. */
export function displaceLines(
  extended: Extended,
  replayed: readonly ReplayedPlay[],
  /** What the prospective line item may be given until a play. */
  allowed: (at: number) => number,
): Displacement {
  const { index, baseline, own } = extended;
  const { listeners, hear } = createRecords(extended);
  const lost = new Float64Array(index.lines.length);
  const displaced = createLineSet(extended.fits);
  const comesBack = ({ goalQuantity, sharePct }: (typeof index.lines)[number]) =>
    goalQuantity !== undefined || sharePct !== undefined;
  let won = 0;
  const note = (ordinal: number, units: number) => {
    lost[ordinal]! += units;
    if (!comesBack(index.lines[ordinal]!)) return;
    if (lost[ordinal]! > 0) displaced.add(ordinal);
    else displaced.delete(ordinal);
  };
  const decideAgain = (play: SimulatedPlay, before: readonly PlacedPick[], { at, unit, fits }: ReplayedPlay) => {
    const given = new Map<number, number>();
    for (const { ordinal } of before) given.set(ordinal, (given.get(ordinal) ?? 0) + 1);
    const candidates = play.breaks.map((_, inBreak) => {
      const ordinals = before.filter((pick) => pick.inBreak === inBreak).map(({ ordinal }) => ordinal);
      if (fits?.[inBreak]) ordinals.push(own);
      if (displaced.size() > 0) displaced.visitFitting(at, inBreak, (ordinal) => ordinals.push(ordinal));
      return ordinals;
    });
    const { picks } = decideAmong(index, play, candidates, {
      remaining: (ordinal) =>
        ordinal === own
          ? Math.round((allowed(at) - won) / unit)
          : (given.get(ordinal) ?? 0) + Math.max(0, lost[ordinal]! / unit),
      share: lackingShare,
      frequencyRecord:
        play.listener === '' ? undefined : (key, sinceMs) => listeners.count(play.listener, key, sinceMs),
    });
    for (const { ordinal } of picks)
      if (ordinal === own) won += unit;
      else given.set(ordinal, (given.get(ordinal) ?? 0) - 1);
    for (const [ordinal, fewer] of given) if (fewer !== 0) note(ordinal, fewer * unit);
    const breakNumbers = new Map(play.breaks.map(({ key }, inBreak) => [key, inBreak]));
    return picks.map(({ ordinal, breakKey }) => ({ ordinal, inBreak: breakNumbers.get(breakKey)! }));
  };
  let next = 0;
  baseline.plays.forEach((play, at) => {
    const replay = replayed[next]?.at === at ? replayed[next++] : undefined;
    if (!replay && !baseline.index.asksListener) return;
    const before = extended.picksOf(at);
    const again = replay && (replay.fits !== undefined || displaced.size() > 0);
    hear(play, again ? decideAgain(play, before, replay) : before);
  });
  return { won, lost };
}
