import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop, type PollLoop } from '@longwave/worker-kit';
import { reviseFeed, type AnnouncementPorts } from './feed-revision.ts';
import type { HlsTrack } from '../projected.ts';
import type { SegmentCache } from '../../segments/segment-cache.ts';
import { checkOwnPresentation } from '../../presentations/check-presentation.ts';
import type { LoadIndex } from '../../presentations/load-index.ts';
import { openPresentation } from '../../presentations/open-presentation.ts';
import { composePresentation, presentationDigest, type IndexedTrack } from '../../presentations/presentation.ts';
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
  readonly announcements: AnnouncementPorts;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Called when an episode got another presentation, or none. */
  readonly onPresented: () => void;
}

const everyMs = 500;
/** An episode whose process was killed is looked at again after this time. */
const leaseMs = 60_000;
const maxDelayMs = 600_000;

/** The tracks of the parts in order; undefined while one of them has none. */
function tracksOf({ intro, own, outro, tracks }: EpisodeContent) {
  const digests = { intro, own, outro };
  const missing = Object.values(digests).some((digest) => digest !== undefined && !tracks.has(digest));
  if (missing) return undefined;
  const trackOf = (digest: string | undefined) => (digest === undefined ? undefined : tracks.get(digest));
  return { intro: trackOf(intro), own: tracks.get(own)!, outro: trackOf(outro) };
}

/**
 * Gives episodes their presentations: composes one from what is encoded, checks it, stores it, and only then lets the episode have it. While
 * the track of new audio or of a new intro is missing, the episode has none: HLS never plays other content than the MP3.
 */
export function presentEpisodes(options: PresentEpisodesOptions): PollLoop {
  const { pool, loadIndex, files, segments, announcements, logger, now, onPresented } = options;

  async function indexed(track: HlsTrack): Promise<IndexedTrack> {
    const { codec, sha256: digest, index } = track;
    return { codec, digest, index: await loadIndex(index.sha256), indexDigest: index.sha256 };
  }

  async function compose(episodeId: string): Promise<StoredPresentation | undefined> {
    const content = await findEpisodeContent(pool, episodeId);
    const tracks = content && tracksOf(content);
    if (!tracks) return undefined;
    const { workspaceId, podcastId, language, own: renditionDigest, chapters, transcripts } = content;
    const document = composePresentation({
      ...{ episodeId, language, chapters, transcripts },
      intro: tracks.intro && (await indexed(tracks.intro)),
      own: await indexed(tracks.own),
      outro: tracks.outro && (await indexed(tracks.outro)),
    });
    const digest = presentationDigest(document);
    return { digest, workspaceId, podcastId, episodeId, renditionDigest, document };
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
         and (p.attributes->>'hls_audio')::boolean and (p.attributes->>'hls_in_feed')::boolean`,
      [episodeId],
    );
    if (rows[0]) await reviseFeed(tx, rows[0].podcast_id, now().toISOString(), announcements);
  }

  async function look(due: DueEpisode): Promise<void> {
    const made = await compose(due.episodeId);
    if (!made) return settle(due, undefined, []);
    if (made.digest === due.digest && due.averageBitRate !== undefined)
      return settle(due, { ...made, averageBitRate: due.averageBitRate }, []);
    const open = await openPresentation(made, loadIndex);
    const findings = await checkOwnPresentation(open, { files, segments, now });
    const failures = findings.filter(({ level }) => level === 'failure');
    if (failures.length > 0)
      logger.error(
        { episode_id: due.episodeId, presentation: made.digest, findings: failures },
        'presentation.refused',
      );
    const presented = { ...made, averageBitRate: open.audio.rates.average };
    await settle(due, failures.length > 0 ? undefined : presented, findings);
    if (failures.length === 0)
      logger.info({ episode_id: due.episodeId, presentation: made.digest }, 'presentation.published');
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
