import { createHash } from 'node:crypto';
import { byteOffsetAtTime, canonicalFormat } from '@longwave/audio';
import { arrangementId, composeArrangement, type ArrangedBlob } from '../arrangements/arrangement.ts';
import type { Composition, PlayableEpisode } from '../projection/content-table.ts';
import type { JoinedPart, Rendition } from '../projection/projected.ts';
import type { FilledBreak } from '../arrangements/arranged-breaks.ts';
import type { FadedContent } from './fade-content.ts';
import type { NewArrangement } from '../arrangements/arrangement-table.ts';
import { pictureOf, renderHeader, type Picture } from './render-header.ts';
import { tagChapters } from './tag-chapters.ts';
import { createTimeMap, stretchesOf } from '../arrangements/time-map.ts';

type HeaderBlob = NewArrangement['headers'][number];

const headerBlob = (bytes: Buffer): HeaderBlob => ({ digest: createHash('sha256').update(bytes).digest('hex'), bytes });

const headerPart = ({ digest, bytes }: HeaderBlob): ArrangedBlob => ({
  digest,
  sizeBytes: bytes.length,
  durationMs: 0,
  kind: 'header',
});

/** The header in pieces: the picture is served from its own blob, so that no arrangement stores it again. */
function splitHeader(
  bytes: Buffer,
  picture: Picture | undefined,
  pictureBytes: Buffer | undefined,
): { readonly parts: ArrangedBlob[]; readonly stored: HeaderBlob[] } {
  const at = pictureBytes ? bytes.indexOf(pictureBytes) : -1;
  if (!picture || !pictureBytes || at < 0) {
    const whole = headerBlob(bytes);
    return { parts: [headerPart(whole)], stored: [whole] };
  }
  const front = headerBlob(bytes.subarray(0, at));
  const rest = headerBlob(bytes.subarray(at + pictureBytes.length));
  const middle: ArrangedBlob = {
    digest: picture.sha256,
    sizeBytes: pictureBytes.length,
    durationMs: 0,
    kind: 'header',
    store: 'artwork',
  };
  return { parts: [headerPart(front), middle, headerPart(rest)], stored: [front, rest] };
}

const joinedBlob = (part: JoinedPart | undefined): ArrangedBlob[] =>
  part ? [{ digest: part.sha256, sizeBytes: part.size_bytes, durationMs: part.duration_ms, kind: 'content' }] : [];

const fadedBlob = ({ contentMs, durationMs, bytes }: FadedContent): { blob: ArrangedBlob; stored: HeaderBlob } => {
  const stored = headerBlob(bytes);
  const piece = { from: 0, to: bytes.length, contentMs };
  const { digest } = stored;
  return { stored, blob: { digest, sizeBytes: bytes.length, durationMs, kind: 'content', store: 'header', piece } };
};

/** The episode's own audio in pieces, each followed by the ads of the break at its end. */
function cutContent(
  { digest, sizeBytes, durationMs }: Rendition,
  breaks: readonly FilledBreak[],
  faded: readonly ArrangedBlob[],
): ArrangedBlob[] {
  let piece = { from: 0, contentMs: 0 };
  /** The audio from where the last one ended. */
  const until = (contentMs: number): ArrangedBlob[] => {
    const to = contentMs === durationMs ? sizeBytes : byteOffsetAtTime(contentMs);
    const length = { digest, sizeBytes, durationMs: contentMs - piece.contentMs };
    const audio: ArrangedBlob = { ...length, kind: 'content', piece: { ...piece, to } };
    piece = { from: to, contentMs };
    return audio.piece!.to > audio.piece!.from ? [audio] : [];
  };
  return [...breaks, { contentMs: durationMs, ads: [] }].flatMap(({ contentMs, ads }) => [
    ...faded
      .filter(({ piece: { contentMs: at } = piece }) => at >= piece.contentMs && at < contentMs)
      .flatMap((blob) => {
        const before = until(blob.piece!.contentMs);
        const end = blob.piece!.contentMs + blob.durationMs;
        piece = { from: byteOffsetAtTime(end), contentMs: end };
        return [...before, blob];
      }),
    ...until(contentMs),
    ...ads,
  ]);
}

const format = {
  codec: 'mp3',
  bitrate: canonicalFormat.bitrate,
  channels: canonicalFormat.channels,
  sampleRate: canonicalFormat.sampleRate,
};

/**
 * Header, ads before the content, intro, content with the ads inside of it, outro, ads behind it: the whole file of one play. Intro
 * and outro are content: they are the show's own. Equal inputs give the same arrangement.
 * @param breaks in the order of the content
 * @param faded the faded pieces of the content, in order
 * @param pictureBytes of `pictureOf(composition.artwork)`; without them its room in the header stays empty
 */
export function composePlay(
  episode: PlayableEpisode,
  { intro, outro, chapters, artwork, track, page }: Composition,
  breaks: readonly FilledBreak[],
  pictureBytes: Buffer | undefined,
  faded: readonly FadedContent[] = [],
): NewArrangement {
  const { workspaceId, podcastId, episodeId, publishedAt, rendition } = episode;
  const at = (position: FilledBreak['position']) => breaks.filter((each) => each.position === position);
  const fades = faded.map(fadedBlob);
  const audio = [
    ...at('pre').flatMap(({ ads }) => ads),
    ...joinedBlob(intro),
    ...cutContent(
      rendition,
      at('mid'),
      fades.map(({ blob }) => blob),
    ),
    ...joinedBlob(outro),
    ...at('post').flatMap(({ ads }) => ads),
  ];
  const sound = composeArrangement(episodeId, format, audio);
  const picture = pictureOf(artwork);
  const { parts, stored } = splitHeader(
    renderHeader(
      { title: episode.title, album: episode.podcastTitle, artist: episode.author, track, publishedAt, page },
      Math.floor(sound.total_bytes / canonicalFormat.frameSizeBytes),
      tagChapters(chapters, createTimeMap(stretchesOf(sound))),
      picture,
      pictureBytes,
    ),
    picture,
    pictureBytes,
  );
  const document = composeArrangement(episodeId, format, [...parts, ...audio]);
  const headers = [...stored, ...fades.map((fade) => fade.stored)];
  return { id: arrangementId(document), workspaceId, podcastId, episodeId, publishedAt, document, headers };
}
