import type { MessageKey } from '../../../messages/messages.ts';

/** Where ads may stand in an episode. Times are those of its own audio. */
export interface Break {
  readonly key: string;
  readonly kind: 'pre' | 'mid' | 'post';
  readonly positionMs: number;
  /** How many ads may stand there. */
  readonly slots: number;
}

/** A break with what it is called: mid-rolls are numbered. */
export interface NamedBreak extends Break {
  /** From 1; 0 for what is there once. */
  readonly number: number;
}

interface Marker {
  readonly key: string;
  readonly kind: Break['kind'];
  readonly position_ms: number;
  readonly max_slots: number;
}

/** Management refuses what is closer. */
const apartMs = 10_000;
export const slotsMax = 8;
const breaksMax = 50;

const order = { pre: 0, mid: 1, post: 2 };
const inOrder = (breaks: readonly Break[]) =>
  breaks.toSorted((a, b) => order[a.kind] - order[b.kind] || a.positionMs - b.positionMs);

/** A break as a form keeps it: one text, so that versions of a list can be compared. */
const breakText = ({ kind, positionMs, slots, key }: Break): string => `${kind} ${positionMs} ${slots} ${key}`;

/** The breaks of a form's texts, in the order of the audio. */
export function breaksOf(texts: readonly string[]): readonly NamedBreak[] {
  const breaks = texts.map((text) => {
    const [kind, positionMs, slots, key = ''] = text.split(' ');
    return { kind: kind as Break['kind'], positionMs: Number(positionMs), slots: Number(slots), key };
  });
  let number = 0;
  return inOrder(breaks).map((each) => ({ ...each, number: each.kind === 'mid' ? (number += 1) : 0 }));
}

export const textsOf = (breaks: readonly Break[]): readonly string[] => inOrder(breaks).map(breakText);

/** Markers of REST v1 as texts of the form, and the other way round. */
export const textsOfMarkers = (markers: readonly Marker[]): readonly string[] =>
  textsOf(markers.map(({ position_ms: positionMs, max_slots: slots, ...rest }) => ({ ...rest, positionMs, slots })));
export const markersOf = (texts: readonly string[]): Marker[] =>
  breaksOf(texts).map(({ key, kind, positionMs, slots }) => ({
    ...{ key, kind },
    position_ms: positionMs,
    max_slots: slots,
  }));

const isFree = (breaks: readonly Break[], ms: number) =>
  breaks.every(({ kind, positionMs }) => kind !== 'mid' || Math.abs(positionMs - ms) >= apartMs);

/** Where a new mid-roll goes: to a time, if it may stand there, else into the middle of the longest stretch without one. */
export function placeFor(breaks: readonly Break[], ms: number, durationMs: number): number {
  if (ms > 0 && ms < durationMs && isFree(breaks, ms)) return Math.round(ms);
  const mids = breaks.flatMap(({ kind, positionMs }) => (kind === 'mid' ? [positionMs] : []));
  const edges = [0, ...mids.toSorted((a, b) => a - b), durationMs];
  const stretches = edges.slice(1).map((end, at) => ({ from: edges[at]!, lengthMs: end - edges[at]! }));
  const longest = stretches.reduce((best, each) => (each.lengthMs > best.lengthMs ? each : best));
  return Math.round(longest.from + longest.lengthMs / 2);
}

/** The breaks with one more, and its key; the same breaks where there is no room for it. */
export function withBreak(
  breaks: readonly Break[],
  kind: Break['kind'],
  ms: number,
  durationMs: number,
): { readonly breaks: readonly Break[]; readonly key: string } {
  const there = breaks.find((each) => kind !== 'mid' && each.kind === kind);
  if (there) return { breaks, key: there.key };
  if (breaks.length >= breaksMax) return { breaks, key: breaks[0]!.key };
  const keys = new Set(breaks.map(({ key }) => key));
  const key = [kind, ...Array.from({ length: breaksMax }, (_, at) => `${kind}-${at + 2}`)].find(
    (each) => !keys.has(each),
  )!;
  const positionMs = { pre: 0, mid: placeFor(breaks, ms, durationMs), post: durationMs }[kind];
  return { breaks: [...breaks, { key, kind, positionMs, slots: 1 }], key };
}

/** A mid-roll moved to a time inside the audio; other breaks stand where they do. */
export const moved = (breaks: readonly Break[], key: string, toMs: number, durationMs: number): readonly Break[] =>
  breaks.map((each) =>
    each.key === key && each.kind === 'mid'
      ? { ...each, positionMs: Math.min(Math.max(1, Math.round(toMs)), durationMs - 1) }
      : each,
  );

/** What is wrong with breaks; undefined where they may be saved. */
export function breaksFault(breaks: readonly Break[]): MessageKey | undefined {
  const mids = breaks.filter(({ kind }) => kind === 'mid');
  return mids.every((each) =>
    isFree(
      mids.filter((other) => other !== each),
      each.positionMs,
    ),
  )
    ? undefined
    : 'audio.too_close';
}
