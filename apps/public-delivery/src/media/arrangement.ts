import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** An arrangement as it is stored and hashed. Its SHA-256 over JCS (RFC 8785) is its id. */
export const arrangementDocumentSchema = z.strictObject({
  v: z.literal(1),
  episode_id: z.string(),
  format: z.strictObject({ codec: z.string(), bitrate: z.int(), channels: z.int(), sample_rate: z.int() }),
  parts: z.array(
    z.strictObject({
      blob: sha256,
      offset: z.int().min(0),
      length: z.int().min(1),
      kind: z.enum(['header', 'content', 'ad', 'ident']),
      /** Break and place in it, "pre/0"; only ads. */
      slot: z.string().optional(),
      /** A header part that lies with the artwork instead of with the headers. */
      store: z.literal('artwork').optional(),
    }),
  ),
  total_bytes: z.int().min(1),
  timeline: z.array(z.strictObject({ part: z.int().min(0), start_ms: z.int().min(0), dur_ms: z.int().min(0) })),
});

export type ArrangementDocument = z.infer<typeof arrangementDocumentSchema>;
export type PartKind = ArrangementDocument['parts'][number]['kind'];

/** One part before it has its place. */
export interface ArrangedBlob {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly durationMs: number;
  readonly kind: PartKind;
  readonly slot?: string;
  readonly store?: 'artwork';
}

/** Puts blobs one after the other. Equal inputs give the same document, hence the same id. */
export function composeArrangement(
  episodeId: string,
  format: { readonly codec: string; readonly bitrate: number; readonly channels: number; readonly sampleRate: number },
  blobs: readonly ArrangedBlob[],
): ArrangementDocument {
  let offset = 0;
  let startMs = 0;
  const parts: ArrangementDocument['parts'] = [];
  const timeline: ArrangementDocument['timeline'] = [];
  for (const [part, { digest, sizeBytes, durationMs, kind, slot, store }] of blobs.entries()) {
    parts.push({
      blob: digest,
      offset,
      length: sizeBytes,
      kind,
      ...(slot !== undefined && { slot }),
      ...(store !== undefined && { store }),
    });
    timeline.push({ part, start_ms: startMs, dur_ms: durationMs });
    offset += sizeBytes;
    startMs += durationMs;
  }
  const { codec, bitrate, channels, sampleRate } = format;
  return {
    v: 1,
    episode_id: episodeId,
    format: { codec, bitrate, channels, sample_rate: sampleRate },
    parts,
    total_bytes: offset,
    timeline,
  };
}

/** SHA-256 (hex) of the document in JCS form. */
export function arrangementId(document: ArrangementDocument): string {
  return createHash('sha256').update(canonicalize(document)!).digest('hex');
}

/** A stretch of one part, in that part's own bytes. */
export interface PartSlice {
  readonly part: number;
  readonly from: number;
  readonly to: number;
}

/** Index of the part that holds byte `at`, by binary search. */
function partAt(parts: ArrangementDocument['parts'], at: number): number {
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (parts[middle]!.offset <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The slices whose bytes, one after the other, are the arrangement's bytes [from, to). */
export function slicesOf({ parts }: Pick<ArrangementDocument, 'parts'>, from: number, to: number): PartSlice[] {
  const slices: PartSlice[] = [];
  for (let part = partAt(parts, from); part < parts.length && parts[part]!.offset < to; part++) {
    const { offset, length } = parts[part]!;
    const slice = { part, from: Math.max(0, from - offset), to: Math.min(length, to - offset) };
    if (slice.from < slice.to) slices.push(slice);
  }
  return slices;
}
