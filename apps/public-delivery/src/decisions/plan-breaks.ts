import { cutPoint, durationMsOfFrames } from '@longwave/audio';
import type { BreakPlan, BreakPosition, SlotRule } from '../projection/break-plan.ts';
import type { Markers } from '../projection/projected.ts';

/** A break that an episode has. */
export interface PlannedBreak {
  readonly key: string;
  readonly position: BreakPosition;
  /** Its place in the content; a whole number of frames. */
  readonly contentMs: number;
  readonly maxSlots: number;
  readonly maxDurationMs: number;
  readonly slotRules: readonly SlotRule[];
}

/** The audio that breaks are cut into. */
export interface ContentShape {
  readonly frames: number;
  /** [start, end) in milliseconds, in order. */
  readonly silences: readonly (readonly [number, number])[];
}

type Place = Omit<PlannedBreak, 'contentMs'> & { readonly atMs: number };

/** A play asks for at most this many (internal-serving takes no more). */
const maxBreaks = 32;
const maxBreakKeyLength = 64;
/** Length of a slot without a plan. */
const defaultSlotMs = 90_000;

/** The key of one of several breaks that come from one line of a plan. */
const keyOf = (key: string, part: string | number): string =>
  `${key.slice(0, maxBreakKeyLength - 1 - String(part).length)}:${part}`;

function placesOf(planned: BreakPlan['breaks'][number], markers: Markers, lengthMs: number): Place[] {
  const { anchor, key, position, max_slots: maxSlots, max_duration_ms: maxDurationMs, slot_rules: slotRules } = planned;
  const place = { key, position, maxSlots, maxDurationMs, slotRules };
  if (anchor.kind === 'marker') {
    const named = anchor.key !== undefined;
    return markers
      .filter((marker) => (named ? marker.key === anchor.key : marker.kind === position))
      .map((marker) => ({
        ...place,
        key: named ? key : keyOf(key, marker.key),
        atMs: marker.position_ms,
        maxSlots: Math.min(maxSlots, marker.max_slots),
        slotRules: slotRules.filter(({ slot }) => slot < marker.max_slots),
      }));
  }
  if (anchor.kind === 'time' || position !== 'mid')
    return [{ ...place, atMs: anchor.kind === 'time' ? anchor.position_ms : anchor.first_ms }];
  const { first_ms: firstMs, every_ms: everyMs, count_max: maxCount } = anchor;
  const fitting = Math.max(0, Math.ceil((lengthMs - firstMs) / everyMs));
  return Array.from({ length: Math.min(maxCount, fitting) }, (_, i) => ({
    ...place,
    key: keyOf(key, i + 1),
    atMs: firstMs + i * everyMs,
  }));
}

/** Without a plan: a break at each marker, and a pre-roll of one slot where no marker says otherwise. */
const defaultPlaces = (markers: Markers): Place[] =>
  [...markers, { key: 'pre', kind: 'pre' as const, position_ms: 0, max_slots: 1 }].map((marker) => ({
    key: marker.key,
    position: marker.kind,
    atMs: marker.position_ms,
    maxSlots: marker.max_slots,
    maxDurationMs: marker.max_slots * defaultSlotMs,
    slotRules: [],
  }));

/** The cut of a break, or undefined when it lies outside of the content. */
function cutOf({ position, atMs }: Place, { frames, silences }: ContentShape): number | undefined {
  if (position === 'pre') return 0;
  if (position === 'post') return durationMsOfFrames(frames);
  if (atMs <= 0 || atMs >= durationMsOfFrames(frames)) return undefined;
  const frame = cutPoint(atMs, frames, silences);
  return frame > 0 && frame < frames ? durationMsOfFrames(frame) : undefined;
}

/**
 * The breaks of an episode in their order, at most 32. One that lies outside of the content, at the place or under the key of an
 * earlier one, or closer behind an earlier one than the plan's gap is left out; of two at one place the plan's first one stays.
 */
export function planBreaks(plan: BreakPlan | undefined, markers: Markers, content: ContentShape): PlannedBreak[] {
  const lengthMs = durationMsOfFrames(content.frames);
  const places = plan ? plan.breaks.flatMap((each) => placesOf(each, markers, lengthMs)) : defaultPlaces(markers);
  const found = places.flatMap((place): PlannedBreak[] => {
    const { atMs: _, ...planned } = place;
    const contentMs = cutOf(place, content);
    return contentMs === undefined ? [] : [{ ...planned, contentMs }];
  });
  const kept: PlannedBreak[] = [];
  for (const each of found.sort((a, b) => a.contentMs - b.contentMs)) {
    const gapMs = each.contentMs - (kept.at(-1)?.contentMs ?? -Infinity);
    if (gapMs > 0 && gapMs >= (plan?.min_gap_ms ?? 0) && !kept.some(({ key }) => key === each.key)) kept.push(each);
  }
  return kept.slice(0, maxBreaks);
}
