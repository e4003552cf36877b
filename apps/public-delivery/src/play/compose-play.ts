import { createHash } from 'node:crypto';
import { canonicalFormat, id3SizeBytes, renderId3 } from '@longwave/audio';
import { arrangementId, composeArrangement, type ArrangedBlob } from '../media/arrangement.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import type { NewArrangement } from './play-table.ts';

/** Headers grow in steps of this size, so that a header has the same size with and without ads. */
const headerStepBytes = 1024;
/** Room for a number that another length of the file writes with more digits. */
const headerSlackBytes = 16;

/** The bytes before the audio: an ID3v2.3 tag with the length of this very file. */
function renderHeader(episode: PlayableEpisode, lengthMs: number): Buffer {
  const content = { title: episode.title, album: episode.podcastTitle, artist: episode.author, lengthMs };
  const needed = id3SizeBytes({ ...content, lengthMs: 0 }) + headerSlackBytes;
  return renderId3(content, Math.ceil(needed / headerStepBytes) * headerStepBytes);
}

/** Header, ads, content: the whole file of one play. Equal inputs give the same arrangement. */
export function composePlay(episode: PlayableEpisode, ads: readonly ArrangedBlob[]): NewArrangement {
  const { workspaceId, podcastId, episodeId, publishedAt, rendition } = episode;
  const content: ArrangedBlob = { ...rendition, kind: 'content' };
  const audio = [...ads, content];
  const bytes = renderHeader(
    episode,
    audio.reduce((sum, blob) => sum + blob.durationMs, 0),
  );
  const digest = createHash('sha256').update(bytes).digest('hex');
  const format = {
    codec: 'mp3',
    bitrate: canonicalFormat.bitrate,
    channels: canonicalFormat.channels,
    sampleRate: canonicalFormat.sampleRate,
  };
  const document = composeArrangement(episodeId, format, [
    { digest, sizeBytes: bytes.length, durationMs: 0, kind: 'header' },
    ...audio,
  ]);
  return {
    id: arrangementId(document),
    workspaceId,
    podcastId,
    episodeId,
    publishedAt,
    document,
    header: { digest, bytes },
  };
}
