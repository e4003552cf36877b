import { createHash } from 'node:crypto';
import { canonicalFormat } from '@longwave/audio';
import { arrangementId, composeArrangement, type ArrangedBlob } from '../media/arrangement.ts';
import type { Composition, PlayableEpisode } from '../projection/content-table.ts';
import type { JoinedPart } from '../projection/projected.ts';
import type { NewArrangement } from './play-table.ts';
import { pictureOf, renderHeader, type Picture } from './render-header.ts';
import { tagChapters } from './tag-chapters.ts';

type HeaderBlob = NewArrangement['headers'][number];

const headerBlob = (bytes: Buffer): HeaderBlob => ({ digest: createHash('sha256').update(bytes).digest('hex'), bytes });

const arranged = ({ digest, bytes }: HeaderBlob): ArrangedBlob => ({
  digest,
  sizeBytes: bytes.length,
  durationMs: 0,
  kind: 'header',
});

/** The header in pieces: the picture is served from where it lies, so that no arrangement stores it again. */
function splitHeader(
  bytes: Buffer,
  picture: Picture | undefined,
  pictureBytes: Buffer | undefined,
): { readonly parts: ArrangedBlob[]; readonly stored: HeaderBlob[] } {
  const at = pictureBytes ? bytes.indexOf(pictureBytes) : -1;
  if (!picture || !pictureBytes || at < 0) {
    const whole = headerBlob(bytes);
    return { parts: [arranged(whole)], stored: [whole] };
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
  return { parts: [arranged(front), middle, arranged(rest)], stored: [front, rest] };
}

const contentBlob = (part: JoinedPart | undefined): ArrangedBlob[] =>
  part ? [{ digest: part.sha256, sizeBytes: part.size_bytes, durationMs: part.duration_ms, kind: 'content' }] : [];

const lengthOf = (blobs: readonly ArrangedBlob[]) => blobs.reduce((sum, blob) => sum + blob.durationMs, 0);

/**
 * Header, ads before the content, intro, content, outro: the whole file of one play. Intro and outro are content: they are the
 * show's own. Equal inputs give the same arrangement.
 * @param pictureBytes of `pictureOf(composition.artwork)`; its room stays empty without
 */
export function composePlay(
  episode: PlayableEpisode,
  { intro, outro, chapters, artwork }: Composition,
  ads: readonly ArrangedBlob[],
  pictureBytes: Buffer | undefined,
): NewArrangement {
  const { workspaceId, podcastId, episodeId, publishedAt, rendition } = episode;
  const before = [...ads, ...contentBlob(intro)];
  const audio: ArrangedBlob[] = [...before, { ...rendition, kind: 'content' }, ...contentBlob(outro)];
  const picture = pictureOf(artwork);
  const { parts, stored } = splitHeader(
    renderHeader(
      { title: episode.title, album: episode.podcastTitle, artist: episode.author },
      lengthOf(audio),
      tagChapters(chapters, lengthOf(before), rendition.durationMs),
      picture,
      pictureBytes,
    ),
    picture,
    pictureBytes,
  );
  const format = {
    codec: 'mp3',
    bitrate: canonicalFormat.bitrate,
    channels: canonicalFormat.channels,
    sampleRate: canonicalFormat.sampleRate,
  };
  const document = composeArrangement(episodeId, format, [...parts, ...audio]);
  return { id: arrangementId(document), workspaceId, podcastId, episodeId, publishedAt, document, headers: stored };
}
