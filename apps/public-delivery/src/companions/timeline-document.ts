import { partsOf, type ArrangementDocument } from '../arrangements/arrangement.ts';
import type { BreakPosition } from '../projection/break-plan.ts';
import { filledBreaksOf, splitSlotName } from '../arrangements/arranged-breaks.ts';

interface Span {
  readonly start_ms: number;
  readonly duration_ms: number;
}

/** The addresses for a player's reports of an ad and for a click on it. */
export interface SlotAddresses {
  readonly event_url?: string;
  readonly click_url?: string;
}

/** One ad of a break, without advertiser and campaign. */
interface TimelineSlot extends Span, SlotAddresses {
  readonly slot: number;
}

type TimelinePart =
  | (Span & { readonly kind: 'intro' | 'outro' })
  /** A piece of the episode's own audio. */
  | (Span & { readonly kind: 'content'; readonly content_start_ms: number })
  | (Span & {
      readonly kind: 'break';
      readonly key: string;
      readonly position: BreakPosition;
      readonly slots: readonly TimelineSlot[];
    });

/** The parts of one delivered file, in order and without a gap. Times are milliseconds of the file. */
export interface TimelineDocument {
  readonly version: 1;
  readonly duration_ms: number;
  readonly parts: readonly TimelinePart[];
}

const durationOf = (spans: readonly Span[]): number => spans.reduce((sum, { duration_ms: ms }) => sum + ms, 0);

/**
 * The timeline of an arrangement.
 * @param addressesOf by the slot of the arrangement, "pre/0"
 */
export function timelineOf(
  document: ArrangementDocument,
  addressesOf: (slotName: string) => SlotAddresses,
): TimelineDocument {
  const spans = document.timeline.map(({ start_ms, dur_ms: duration_ms }): Span => ({ start_ms, duration_ms }));
  const placed = partsOf(document);
  const firstOwn = placed.findIndex(({ content_ms: ms }) => ms !== undefined);
  const spanOfSlot = new Map(placed.map(({ slot }, index) => [slot, spans[index]!] as const));
  // A faded piece continues the piece before it.
  const isJoined = (index: number) => placed[index - 1]?.content_ms !== undefined;
  const sound = placed.flatMap(({ kind, content_ms: content_start_ms }, index): TimelinePart[] => {
    if (kind !== 'content') return [];
    if (content_start_ms === undefined) return [{ kind: index < firstOwn ? 'intro' : 'outro', ...spans[index]! }];
    if (isJoined(index)) return [];
    const end = placed.findIndex(({ content_ms: ms }, i) => i > index && ms === undefined);
    const duration_ms = durationOf(spans.slice(index, end < 0 ? undefined : end));
    return [{ kind, start_ms: spans[index]!.start_ms, duration_ms, content_start_ms }];
  });
  const breaks = filledBreaksOf(document).map(({ key, position, ads }): TimelinePart => {
    const slots = ads.map(({ slot }) => ({
      slot: splitSlotName(slot).slot,
      ...spanOfSlot.get(slot)!,
      ...addressesOf(slot),
    }));
    const { start_ms } = slots[0]!;
    return { kind: 'break', key, position, start_ms, duration_ms: durationOf(slots), slots };
  });
  const parts = [...sound, ...breaks].sort((a, b) => a.start_ms - b.start_ms);
  return { version: 1, duration_ms: durationOf(parts), parts };
}
