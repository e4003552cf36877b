import { composeTrack, trackArrangementSchema, type CellIndex } from '@longwave/hls-media';
import { jcsDigest } from '@longwave/idempotency';
import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** What players may choose by language: as a tag (BCP 47), and as people read it. */
const language = { language: z.string().min(1), name: z.string().min(1) };

/**
 * What an episode is by HLS, for everybody, as it is stored and hashed: its SHA-256 over JCS (RFC 8785) is its name. Breaks and ads are not
 * in it. Equal inputs give the same document.
 */
export const presentationSchema = z.strictObject({
  v: z.literal(1),
  kind: z.literal('presentation'),
  episode_id: z.string(),
  ...language,
  audio: z.strictObject({
    track: trackArrangementSchema,
    /** SHA-256 of the index of each part, in order. */
    indexes: z.array(sha256).min(1),
    /** Which part is the episode's own audio: 1 behind an intro, else 0. */
    own: z.int().min(0).max(1),
  }),
  captions: z.array(z.strictObject({ ...language, transcript: sha256, storage_key: z.string() })),
  /** At the times of the episode's own audio. */
  chapters: z.array(
    z.strictObject({
      start_ms: z.int().min(0),
      end_ms: z.int().min(0).optional(),
      title: z.string(),
      toc: z.boolean().optional(),
    }),
  ),
});

export type PresentationDocument = z.infer<typeof presentationSchema>;

export const presentationDigest = (document: PresentationDocument): string => jcsDigest(document);

/** A stored track with its index. */
export interface IndexedTrack {
  readonly codec: string;
  readonly digest: string;
  readonly index: CellIndex;
  readonly indexDigest: string;
}

/** Everything that a presentation is made of. */
export interface PresentedContent {
  readonly episodeId: string;
  readonly language: string;
  readonly intro: IndexedTrack | undefined;
  readonly own: IndexedTrack;
  readonly outro: IndexedTrack | undefined;
  readonly transcripts: readonly {
    readonly language: string;
    readonly captions: boolean;
    readonly sha256: string;
    readonly storage_key: string;
  }[];
  readonly chapters: PresentationDocument['chapters'];
}

const names = new Intl.DisplayNames(['en'], { type: 'language' });

/** "English"; a tag that nobody knows, or that has no valid form, stands for itself. */
function nameOf(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

export function composePresentation(content: PresentedContent): PresentationDocument {
  const { episodeId, language: tag, intro, own, outro, transcripts, chapters } = content;
  const parts: [IndexedTrack, ...IndexedTrack[]] = intro ? [intro, own] : [own];
  if (outro) parts.push(outro);
  const captioned = new Map(transcripts.filter(({ captions }) => captions).map((each) => [each.language, each]));
  return {
    v: 1,
    kind: 'presentation',
    episode_id: episodeId,
    language: tag,
    name: nameOf(tag),
    audio: {
      track: composeTrack(own.codec, parts),
      indexes: parts.map(({ indexDigest }) => indexDigest),
      own: intro ? 1 : 0,
    },
    captions: [...captioned.values()].map(({ language: spoken, sha256: transcript, storage_key }) => ({
      language: spoken,
      name: nameOf(spoken),
      transcript,
      storage_key,
    })),
    chapters: chapters.map(({ start_ms, end_ms, title, toc }) => ({
      start_ms,
      ...(end_ms !== undefined && { end_ms }),
      title,
      ...(toc !== undefined && { toc }),
    })),
  };
}
