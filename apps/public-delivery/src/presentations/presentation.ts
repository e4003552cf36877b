import { composeTrack, trackArrangementSchema, type CellIndex, type FrameRate } from '@longwave/hls-media';
import { jcsDigest } from '@longwave/idempotency';
import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The names of sizes of the picture, from the smallest. */
const pictureNames = ['v360', 'v480', 'v720', 'v1080'] as const;

/** A track of pictures. It has one file: nothing is joined to pictures. */
const pictureTrack = {
  track: trackArrangementSchema,
  /** SHA-256 of its index. */
  index: sha256,
  width: z.int().min(1),
  height: z.int().min(1),
};

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
  /** Absent in a presentation of sound alone. */
  pictures: z
    .strictObject({
      /** From the smallest. */
      renditions: z
        .array(
          z.strictObject({
            name: z.enum(pictureNames),
            ...pictureTrack,
            frame_rate: z.strictObject({ frames: z.int().min(1), seconds: z.int().min(1) }),
          }),
        )
        .min(1),
      /** For seeking. */
      i_frames: z.strictObject(pictureTrack),
    })
    .optional(),
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

/** A stored track of pictures with its index. */
interface IndexedPicture extends IndexedTrack {
  readonly width: number;
  readonly height: number;
  readonly frameRate: FrameRate;
}

/** The pictures of an episode: all sizes by their names, and those for seeking. */
export interface IndexedPictures {
  readonly renditions: Readonly<Partial<Record<(typeof pictureNames)[number], IndexedPicture>>>;
  readonly iFrames: IndexedPicture;
}

/** Everything that a presentation is made of. */
export interface PresentedContent {
  readonly episodeId: string;
  readonly language: string;
  readonly intro: IndexedTrack | undefined;
  readonly own: IndexedTrack;
  readonly outro: IndexedTrack | undefined;
  /** An intro and an outro have none, so an episode with pictures plays without them. */
  readonly pictures?: IndexedPictures | undefined;
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

const pictureOf = ({ codec, digest, index, indexDigest, width, height }: IndexedPicture) => ({
  ...{ track: composeTrack(codec, [{ digest, index }]), index: indexDigest },
  ...{ width, height },
});

const picturesOf = ({ renditions, iFrames }: IndexedPictures): NonNullable<PresentationDocument['pictures']> => ({
  renditions: pictureNames.flatMap((name) => {
    const picture = renditions[name];
    if (!picture) return [];
    const { frames, seconds } = picture.frameRate;
    return [{ name, ...pictureOf(picture), frame_rate: { frames, seconds } }];
  }),
  i_frames: pictureOf(iFrames),
});

/** Throws `RangeError` for pictures with an intro or an outro. */
export function composePresentation(content: PresentedContent): PresentationDocument {
  const { episodeId, language: tag, intro, own, outro, pictures, transcripts, chapters } = content;
  if (pictures && (intro ?? outro)) throw new RangeError('a part without pictures is joined to one with pictures');
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
    ...(pictures && { pictures: picturesOf(pictures) }),
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
