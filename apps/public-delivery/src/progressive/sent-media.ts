import { canonicalFormat } from '@longwave/audio';
import { partsOf } from '../arrangements/arrangement.ts';
import type { ArrangementPart } from '../arrangements/arrangement.ts';
import type { CountedMedia } from '../arrangements/written-meter.ts';
import type { Validators } from '@longwave/http-kit';
import { countedAd } from '../decisions/play-ads.ts';
import type { Play } from '../plays/bound-plays.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';

/** A file of MP3 to send, and how it is counted. */
export interface SentAudio extends Validators {
  readonly parts: readonly ArrangementPart[];
  readonly counted: CountedMedia;
  readonly headers: Readonly<Record<string, string>>;
}

/** How the audio of a play is sent and counted. */
export function playMedia({ arrangement, binding }: Play, cacheControl: string): SentAudio {
  const { id, workspaceId, podcastId, episodeId, publishedAt, document } = arrangement;
  const placed = partsOf(document);
  const parts = placed.map(({ kind, offset, length, slot }, index) => ({
    kind,
    from: offset,
    to: offset + length,
    duration_ms: document.timeline[index]!.dur_ms,
    ...(slot !== undefined && binding?.ads[slot] && { ad: countedAd(binding.ads[slot]) }),
  }));
  const totalBytes = document.total_bytes;
  return {
    etag: `"${id}"`,
    // The address of a play never leads to other bytes.
    modifiedAt: publishedAt,
    parts: placed,
    counted: { workspaceId, podcastId, episodeId, publishedAt, parts, arrangementId: id, totalBytes },
    headers: { 'content-type': canonicalFormat.contentType, 'cache-control': cacheControl },
  };
}

/** The same of an episode's own audio, without header, intro, outro and ads. Audio of other platforms stays in no shared cache: it may be revoked. */
export function cleanMedia(episode: PlayableEpisode): SentAudio {
  const { workspaceId, podcastId, episodeId, publishedAt, rendition, rights } = episode;
  const { digest, sizeBytes: length, durationMs } = rendition;
  return {
    etag: `"${digest}"`,
    modifiedAt: publishedAt,
    parts: [{ blob: digest, blob_bytes: length, from: 0, offset: 0, length, kind: 'content' }],
    counted: {
      ...{ workspaceId, podcastId, episodeId, publishedAt },
      arrangementId: digest,
      totalBytes: length,
      parts: [{ kind: 'content', from: 0, to: length, duration_ms: durationMs }],
    },
    headers: {
      'content-type': canonicalFormat.contentType,
      'cache-control': rights ? 'private, max-age=86400' : 'public, max-age=31536000, immutable',
    },
  };
}
