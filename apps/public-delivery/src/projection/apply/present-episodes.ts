import type { Finding } from '@longwave/hls-profile';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { isCurrent, type DeliveryContract } from '@longwave/services';
import type { Logger } from '@longwave/service-kit';
import { pollLoop, type PollLoop } from '@longwave/worker-kit';
import { reviseFeed, type AnnouncementPorts } from './feed-revision.ts';
import type { HlsTrack, PictureTracks } from '../projected.ts';
import type { SegmentStore } from '../../segments/open-segment.ts';
import type { SegmentCache } from '../../segments/segment-cache.ts';
import { checkOwnPresentation } from '../../presentations/check-presentation.ts';
import type { LoadIndex } from '../../presentations/load-index.ts';
import { openPresentation, type OpenPresentation } from '../../presentations/open-presentation.ts';
import {
  composePresentation,
  presentationDigest,
  type IndexedPictures,
  type IndexedTrack,
} from '../../presentations/presentation.ts';
import type { PresentationFiles } from '../../presentations/presentation-files.ts';
import { savePresentation, type StoredPresentation } from '../../presentations/presentation-table.ts';
import {
  findEpisodeContent,
  postponeDueEpisode,
  settleDueEpisode,
  takeDueEpisode,
  type DueEpisode,
  type EpisodeContent,
  type Presented,
} from '../../presentations/presented-episode-table.ts';

export interface PresentEpisodesOptions {
  readonly pool: Pool;
  readonly loadIndex: LoadIndex;
  readonly files: PresentationFiles;
  readonly segments: Pick<SegmentCache, 'open'>;
  readonly store: SegmentStore;
  readonly announcements: AnnouncementPorts;
  /** Nothing new is announced on a surface that is not current. */
  readonly contract: DeliveryContract;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Called when an episode got another presentation, or none. */
  readonly onPresented: () => void;
}

type PictureTrack = PictureTracks['iframe'];

const everyMs = 500;
/** An episode whose process was killed is looked at again after this time. */
const leaseMs = 60_000;
const maxDelayMs = 600_000;

/** The tracks of a presentation with pictures; undefined while it lacks one, and where there are none. Intro and outro have no pictures. */
function tracksWithPictures({ own, tracks, pictures }: EpisodeContent) {
  const sound = tracks.get(own);
  return sound && pictures && { intro: undefined, own: sound, outro: undefined, pictures };
}

/** The tracks of the parts in order; undefined while one of them has none, and where the podcast has pictures only. */
function tracksOfSound({ intro, own, outro, tracks, mayBeSoundAlone }: EpisodeContent) {
  if (!mayBeSoundAlone) return undefined;
  const digests = { intro, own, outro };
  const missing = Object.values(digests).some((digest) => digest !== undefined && !tracks.has(digest));
  if (missing) return undefined;
  const trackOf = (digest: string | undefined) => (digest === undefined ? undefined : tracks.get(digest));
  return { intro: trackOf(intro), own: tracks.get(own)!, outro: trackOf(outro), pictures: undefined };
}

/** Of the sound, with the largest picture if there is one, in bit/s. */
const averageBitRateOf = ({ audio, pictures }: OpenPresentation): number =>
  audio.rates.average + (pictures?.renditions.at(-1)?.track.rates.average ?? 0);

/**
 * Gives episodes their presentations: composes one from what is encoded, checks it, stores it, and only then lets the episode have it: with
 * pictures where there are some and the check has nothing against them, else of sound alone. While
 * the track of new audio or of a new intro is missing, the episode has none: HLS never plays other content than the MP3.
 */
export function presentEpisodes(options: PresentEpisodesOptions): PollLoop {
  const { pool, loadIndex, files, segments, store, announcements, contract, logger, now, onPresented } = options;

  async function indexed(track: HlsTrack): Promise<IndexedTrack> {
    const { codec, sha256: digest, index } = track;
    return { codec, digest, index: await loadIndex(index.sha256), indexDigest: index.sha256 };
  }

  async function indexedPicture({ width, height, frame_rate: frameRate, ...track }: PictureTrack) {
    return { ...(await indexed(track)), width, height, frameRate };
  }

  async function indexedPictures({ iframe, ...renditions }: PictureTracks): Promise<IndexedPictures> {
    const sizes = Object.entries(renditions).map(async ([name, track]) => [name, await indexedPicture(track)] as const);
    return { renditions: Object.fromEntries(await Promise.all(sizes)), iFrames: await indexedPicture(iframe) };
  }

  /** What the episode may be presented as, the best first. */
  async function* compose(episodeId: string): AsyncGenerator<StoredPresentation> {
    const content = await findEpisodeContent(pool, episodeId);
    if (!content) return;
    const { workspaceId, podcastId, language, own: renditionDigest, chapters, transcripts } = content;
    for (const tracks of [tracksWithPictures(content), tracksOfSound(content)]) {
      if (!tracks) continue;
      const document = composePresentation({
        ...{ episodeId, language, chapters, transcripts },
        intro: tracks.intro && (await indexed(tracks.intro)),
        own: await indexed(tracks.own),
        outro: tracks.outro && (await indexed(tracks.outro)),
        pictures: tracks.pictures && (await indexedPictures(tracks.pictures)),
      });
      const digest = presentationDigest(document);
      yield { digest, workspaceId, podcastId, episodeId, renditionDigest, document };
    }
  }

  async function settle(
    due: DueEpisode,
    presented: (StoredPresentation & Presented) | undefined,
    findings: readonly unknown[],
  ) {
    const changed = await transaction(pool, async (tx) => {
      if (presented) await savePresentation(tx, presented);
      const { isOther, showsOther } = await settleDueEpisode(tx, due, presented, findings);
      if (showsOther) await reviseFeedOf(tx, due.episodeId);
      return isOther;
    });
    if (changed) onPresented();
  }

  /**
   * Gives the feed of the episode a new revision if it names presentations. A podcast whose feed begins to do so at this moment is revised by
   * its own event: that locks the episode's row, which this transaction has locked, so one of both sees the other.
   */
  async function reviseFeedOf(tx: Transaction, episodeId: string): Promise<void> {
    const { rows } = await tx.query<{ readonly podcast_id: string }>(
      `select e.podcast_id from episode e join podcast p on p.id = e.podcast_id
       where e.id = $1 and e.state = 'published'
         and ((p.attributes->>'hls_audio')::boolean or (p.attributes->>'hls_video')::boolean)
         and (p.attributes->>'hls_in_feed')::boolean`,
      [episodeId],
    );
    if (rows[0]) await reviseFeed(tx, rows[0].podcast_id, now().toISOString(), announcements);
  }

  async function look(due: DueEpisode): Promise<void> {
    const findings: Finding[] = [];
    for await (const made of compose(due.episodeId)) {
      if (made.digest === due.digest && due.averageBitRate !== undefined)
        return settle(due, { ...made, averageBitRate: due.averageBitRate }, findings);
      if (!isCurrent(contract, 'hls', made.document.pictures ? 'video' : 'audio')) continue;
      const open = await openPresentation(made, loadIndex);
      const found = await checkOwnPresentation(open, { files, segments, store, now });
      findings.push(...found);
      const failures = found.filter(({ level }) => level === 'failure');
      if (failures.length === 0) {
        await settle(due, { ...made, averageBitRate: averageBitRateOf(open) }, findings);
        logger.info({ episode_id: due.episodeId, presentation: made.digest }, 'presentation.published');
        return;
      }
      logger.error(
        { episode_id: due.episodeId, presentation: made.digest, findings: failures },
        'presentation.refused',
      );
    }
    await settle(due, undefined, findings);
  }

  return pollLoop({
    everyMs,
    run: async () => {
      const due = await takeDueEpisode(pool, leaseMs);
      if (!due) return false;
      try {
        await look(due);
      } catch (error) {
        logger.warn({ err: error, episode_id: due.episodeId, attempts: due.attempts }, 'presentation.postponed');
        await postponeDueEpisode(pool, due, Math.min(maxDelayMs, everyMs * 2 ** Math.min(due.attempts, 12)));
      }
      return true;
    },
    onError: (error) => logger.warn({ err: error }, 'presentations.unavailable'),
  });
}
