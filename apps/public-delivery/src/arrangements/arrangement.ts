import { jcsDigest } from '@longwave/idempotency';
import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const part = z.strictObject({
  /** SHA-256 of the blob that holds the bytes. */
  blob: sha256,
  /** Offset of the bytes in the arrangement. */
  offset: z.int().min(0),
  length: z.int().min(1),
  kind: z.enum(['header', 'content', 'ad', 'ident']),
  /** Break and slot, "pre/0"; only of ads. */
  slot: z.string().optional(),
  /** The store of a part that does not lie with the others of its kind: the picture of a header, or faded content. */
  store: z.enum(['artwork', 'header']).optional(),
});
const pieceOfBlob = part.extend({
  /** Size of the whole blob. */
  blob_bytes: z.int().min(1),
  /** Offset of the bytes in the blob. */
  from: z.int().min(0),
  /** Its beginning in the episode's own audio; absent for other parts. */
  content_ms: z.int().min(0).optional(),
});
const common = {
  episode_id: z.string(),
  format: z.strictObject({ codec: z.string(), bitrate: z.int(), channels: z.int(), sample_rate: z.int() }),
  total_bytes: z.int().min(1),
  timeline: z.array(z.strictObject({ part: z.int().min(0), start_ms: z.int().min(0), dur_ms: z.int().min(0) })),
};

/**
 * An arrangement as it is stored and hashed. Its SHA-256 over JCS (RFC 8785) is its id. In version 1 every part was a whole blob; it
 * is read for ever and no longer written.
 */
export const arrangementDocumentSchema = z.discriminatedUnion('v', [
  z.strictObject({ v: z.literal(1), ...common, parts: z.array(part) }),
  z.strictObject({ v: z.literal(2), ...common, parts: z.array(pieceOfBlob) }),
]);

export type ArrangementDocument = z.infer<typeof arrangementDocumentSchema>;
export type ArrangementPart = z.infer<typeof pieceOfBlob>;
type PartKind = ArrangementPart['kind'];

/** The parts of either version. The episode's own audio in version 1 is its longest content: intro and outro were shorter. */
export function partsOf(document: ArrangementDocument): readonly ArrangementPart[] {
  if (document.v === 2) return document.parts;
  const own = document.parts
    .filter(({ kind }) => kind === 'content')
    .reduce<(typeof document.parts)[number] | undefined>((a, b) => (a && a.length >= b.length ? a : b), undefined);
  return document.parts.map((each) => ({
    ...each,
    blob_bytes: each.length,
    from: 0,
    ...(each === own && { content_ms: 0 }),
  }));
}

/** A part that has no offset yet. */
export interface ArrangedBlob {
  readonly digest: string;
  /** Of the whole blob. */
  readonly sizeBytes: number;
  readonly durationMs: number;
  readonly kind: PartKind;
  readonly slot?: string;
  readonly store?: 'artwork' | 'header';
  /** Of the episode's own audio: the bytes [from, to) of the blob, and where they begin in it. */
  readonly piece?: { readonly from: number; readonly to: number; readonly contentMs: number };
}

/** Puts blobs one after the other. Equal inputs give the same document, hence the same id. */
export function composeArrangement(
  episodeId: string,
  format: { readonly codec: string; readonly bitrate: number; readonly channels: number; readonly sampleRate: number },
  blobs: readonly ArrangedBlob[],
): ArrangementDocument {
  let offset = 0;
  let startMs = 0;
  const parts: ArrangementPart[] = [];
  const timeline: ArrangementDocument['timeline'] = [];
  for (const [index, { digest, sizeBytes, durationMs, kind, slot, store, piece }] of blobs.entries()) {
    const { from, to } = piece ?? { from: 0, to: sizeBytes };
    parts.push({
      blob: digest,
      blob_bytes: sizeBytes,
      from,
      offset,
      length: to - from,
      kind,
      ...(slot !== undefined && { slot }),
      ...(store !== undefined && { store }),
      ...(piece !== undefined && { content_ms: piece.contentMs }),
    });
    timeline.push({ part: index, start_ms: startMs, dur_ms: durationMs });
    offset += to - from;
    startMs += durationMs;
  }
  const { codec, bitrate, channels, sampleRate } = format;
  return {
    v: 2,
    episode_id: episodeId,
    format: { codec, bitrate, channels, sample_rate: sampleRate },
    parts,
    total_bytes: offset,
    timeline,
  };
}

/** An arrangement is named by its content. */
export const arrangementId = (document: ArrangementDocument): string => jcsDigest(document);
