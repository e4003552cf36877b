import type { Peaks } from '../../../parts/waveform/columns.ts';
import type { Stretch } from '../../../parts/waveform/waveform.tsx';
import type { Preview } from './preview-query.ts';

type Timeline = Preview['timeline'];
type Part = Timeline['parts'][number];
type Break = Preview['breaks'][number];
export type Candidate = NonNullable<Preview['candidates']>[number];
type Reason = NonNullable<Preview['no_ad_reason']>;
export type PlayedAd = Preview['ads'][number] & { readonly startMs: number; readonly durationMs: number };

/** A break of the play, filled as far as it is. Positions are milliseconds of the file. */
export interface PlayedBreak {
  readonly key: string;
  readonly kind: Break['position'];
  /** Its place among those of its kind, from 1. */
  readonly number: number;
  readonly atMs: number;
  readonly ads: readonly PlayedAd[];
  /** Slots without an ad. */
  readonly empty: number;
}

const endOf = ({ start_ms: startMs, duration_ms: durationMs }: Part): number => startMs + durationMs;

const contentOf = ({ parts }: Timeline) =>
  parts.flatMap((part) =>
    part.kind === 'content'
      ? [{ fromMs: part.content_start_ms, toMs: part.content_start_ms + part.duration_ms, startMs: part.start_ms }]
      : [],
  );

/** Where a position of the recording is in the file: behind the ads that stand there. */
export function placeInFile(timeline: Timeline, contentMs: number): number {
  const pieces = contentOf(timeline);
  const piece = pieces.findLast(({ fromMs }) => fromMs <= contentMs) ?? pieces[0];
  return piece ? piece.startMs + Math.min(contentMs, piece.toMs) - piece.fromMs : 0;
}

/** Where a break without an ad would stand. */
function placeOfEmpty(timeline: Timeline, { position, position_ms: contentMs }: Break): number {
  if (position === 'pre') return 0;
  return position === 'post' ? timeline.duration_ms : placeInFile(timeline, contentMs);
}

/** The breaks that were to be filled, in order, with their ads and what stayed empty. */
export function breaksOf({ timeline, breaks, ads }: Pick<Preview, 'timeline' | 'breaks' | 'ads'>): PlayedBreak[] {
  const filled = new Map(timeline.parts.flatMap((part) => (part.kind === 'break' ? [[part.key, part] as const] : [])));
  return breaks.map((asked, at): PlayedBreak => {
    const part = filled.get(asked.key);
    const played = (part?.slots ?? []).flatMap(({ slot, start_ms: startMs, duration_ms: durationMs }) => {
      const ad = ads.find((each) => each.break_key === asked.key && each.slot === slot);
      return ad ? [{ ...ad, startMs, durationMs }] : [];
    });
    return {
      ...{
        key: asked.key,
        kind: asked.position,
        number: breaks.slice(0, at + 1).filter(({ position }) => position === asked.position).length,
      },
      ...{ atMs: part?.start_ms ?? placeOfEmpty(timeline, asked), ads: played },
      empty: asked.max_slots - played.length,
    };
  });
}

/** What is not the recording: intro and outro, and breaks with ads. */
export const blocksOf = ({ parts }: Timeline) =>
  parts.flatMap((part) =>
    part.kind === 'content' ? [] : [{ kind: part.kind, startMs: part.start_ms, endMs: endOf(part) }],
  );

/** The peaks of the recording where they are in the file; ads, intro and outro are silent. */
export function peaksInFile({ data, pairMs }: Peaks, timeline: Timeline): Peaks {
  const inFile = new Int8Array(Math.ceil(timeline.duration_ms / pairMs) * 2);
  for (const { fromMs, toMs, startMs } of contentOf(timeline)) {
    const [from, to] = [Math.floor(fromMs / pairMs) * 2, Math.ceil(toMs / pairMs) * 2];
    const at = Math.floor(startMs / pairMs) * 2;
    inFile.set(data.subarray(from, Math.min(to, from + inFile.length - at)), at);
  }
  return { data: inFile, pairMs };
}

/** Chapters at the times of the file. One that a break stands in lasts over it. */
export const chaptersInFile = (chapters: readonly Stretch[], timeline: Timeline): Stretch[] =>
  chapters.map(({ title, startMs, endMs }) => ({
    ...{ title, startMs: placeInFile(timeline, startMs) },
    endMs: Math.max(placeInFile(timeline, startMs), placeInFile(timeline, Math.max(0, endMs - 1)) + 1),
  }));

/** What the verdict of a candidate that was near enough says about a slot that stayed empty; the first entry with a match is the reason, as in `decide.ts` of libs/ad-decision. */
const reasonsByVerdict: readonly (readonly [Reason, readonly Candidate['verdict'][]])[] = [
  [
    'no_fit',
    [
      ...(['duration_too_long', 'separated_advertiser', 'separated_group', 'separated_category'] as const),
      ...(['policy_separation', 'ad_load', 'policy_ad_load', 'slot_rule', 'position_taken'] as const),
    ],
  ],
  ['no_lease', ['no_lease']],
  ['capped', ['capped', 'policy_frequency']],
  ['paced_out', ['paced_out']],
];

/** Candidates that got no slot. */
export const losersOf = (candidates: readonly Candidate[]) => candidates.filter(({ verdict }) => verdict !== 'won');

/**
 * Why a break has an empty slot.
 * @param candidates those of the break; null for roles that do not see them
 * @param ofPlay the reason that the decision gives, which is that of its first break with room
 * @param isFirst whether the break is the first with an empty slot
 */
export function reasonOf(
  candidates: readonly Candidate[] | null,
  ofPlay: Preview['no_ad_reason'],
  isFirst: boolean,
): Preview['no_ad_reason'] {
  const losers = losersOf(candidates ?? []);
  const isAny = (...codes: readonly Candidate['verdict'][]) => losers.some(({ verdict }) => codes.includes(verdict));
  const found = reasonsByVerdict.find(([, codes]) => isAny(...codes));
  if (found) return found[0];
  if (candidates === null || candidates.length === 0) return isFirst ? ofPlay : null;
  if (losers.length < candidates.length || isAny('outranked')) return 'no_more_line_items';
  if (isAny('no_rendition')) return 'no_rendition';
  if (losers.some(({ verdict }) => verdict !== 'not_active' && verdict !== 'halted')) return 'no_matching_line_item';
  return isAny('halted') ? 'halted' : 'no_active_line_item';
}
