import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { feedPath } from './to-feed.ts';
import type { AnnouncementPort } from './announcement-ports.ts';
import {
  claimAnnouncements,
  postponeAnnouncement,
  settleAnnouncement,
  type ClaimedAnnouncement,
} from './announcement-table.ts';

export interface AnnounceFeedsOptions {
  readonly pool: Pool;
  readonly ports: readonly AnnouncementPort[];
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  /** Time between two searches for due announcements, and the delay of the first retry. */
  readonly everyMs: number;
  readonly logger: Logger;
}

const leaseMs = 60_000;
const retryMaxMs = 3_600_000;
const maxAttempts = 12;
const maxConcurrent = 20;

/** Announces changed feeds at the ports; failed announcements are retried, with growing delays, for about half a day. */
export function announceFeeds({ pool, ports, mediaUrl, everyMs, logger }: AnnounceFeedsOptions): AsyncDisposable {
  if (ports.length === 0) return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const byName = new Map(ports.map((port) => [port.name, port]));

  async function announce(claimed: ClaimedAnnouncement): Promise<void> {
    const { podcastId, port, subdomain, attempts } = claimed;
    if (subdomain === undefined) return settleAnnouncement(pool, claimed);
    try {
      await byName.get(port)!.announce(mediaUrl + feedPath(subdomain));
      logger.info({ podcast_id: podcastId, port }, 'feed.announced');
      await settleAnnouncement(pool, claimed);
    } catch (error) {
      logger.warn({ err: error, podcast_id: podcastId, port, attempts }, 'feed.announcement_failed');
      if (attempts >= maxAttempts) await settleAnnouncement(pool, claimed);
      else await postponeAnnouncement(pool, claimed, Math.min(retryMaxMs, everyMs * 2 ** attempts));
    }
  }

  return pollLoop({
    everyMs,
    run: async () => {
      const names = [...byName.keys()];
      await Promise.all((await claimAnnouncements(pool, names, leaseMs, maxConcurrent)).map(announce));
    },
    onError: (error) => logger.warn({ err: error }, 'feed.announcements_unavailable'),
  });
}
