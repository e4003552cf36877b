import type { AdTrack } from '@longwave/events';
import type { AdPictures } from '../decisions/ad-pictures.ts';
import { partsOf, type ArrangedBlob, type ArrangementDocument } from './arrangement.ts';
import type { BreakPosition } from '../projection/break-plan.ts';

/** A break with the ads that a decision gave it. */
export interface FilledBreak {
  readonly key: string;
  readonly position: BreakPosition;
  /** Its place in the content; a whole number of frames. */
  readonly contentMs: number;
  /** In the order of their slots; at least one. */
  readonly ads: readonly FilledSlot[];
}

interface FilledSlot extends ArrangedBlob {
  readonly slot: string;
  /** The same sound for HLS, as the decision answers it; no part of an arrangement. */
  readonly hls?: AdTrack;
  /** Its pictures, likewise. */
  readonly pictures?: AdPictures;
}

/** The name of a slot in arrangements: unique in a play. */
export const slotName = (breakKey: string, slot: number): string => `${breakKey}/${slot}`;

/** The break key and the slot number of a slot name. */
export function splitSlotName(name: string): { readonly key: string; readonly slot: number } {
  const at = name.lastIndexOf('/');
  return { key: name.slice(0, at), slot: Number(name.slice(at + 1)) };
}

/** The breaks of an arrangement with their ads, in order. */
export function filledBreaksOf(document: ArrangementDocument): FilledBreak[] {
  const parts = partsOf(document);
  const lastContent = parts.findLastIndex(({ content_ms: ms }) => ms !== undefined);
  const breaks: (FilledBreak & { readonly ads: FilledSlot[] })[] = [];
  let contentMs: number | undefined;
  for (const [index, part] of parts.entries()) {
    const durationMs = document.timeline[index]!.dur_ms;
    if (part.content_ms !== undefined) contentMs = part.content_ms + durationMs;
    if (part.kind !== 'ad' || part.slot === undefined) continue;
    const { key } = splitSlotName(part.slot);
    const ad = { digest: part.blob, sizeBytes: part.blob_bytes, durationMs, kind: part.kind, slot: part.slot };
    const last = breaks.at(-1);
    if (last?.key === key) last.ads.push(ad);
    else {
      const position = contentMs === undefined ? 'pre' : index > lastContent ? 'post' : 'mid';
      breaks.push({ key, position, contentMs: contentMs ?? 0, ads: [ad] });
    }
  }
  return breaks;
}
