import type { RpcChannel } from '@longwave/rpc';
import { FeedServiceService, type ImportItem } from '@longwave/rpc/feed';
import { callOptions, type Asker } from './asker.ts';

interface PodcastTarget {
  readonly workspaceId: string;
  readonly podcastId: string;
}

const pageSize = 200;

/** Live feeds of podcasts, and the reports of their imports. */
export function feedReads(channel: RpcChannel) {
  const feeds = channel.client(FeedServiceService);
  return {
    /** Checks the live feed of a podcast as directories do. */
    checkFeed: (asker: Asker, podcast: PodcastTarget) => feeds.checkFeed(podcast, callOptions(asker)),

    /** Waits for the feed of a podcast that was just published; false when the deadline comes first. */
    awaitFeed: async (asker: Asker, podcast: PodcastTarget): Promise<boolean> =>
      (await feeds.awaitFeed(podcast, callOptions(asker))).isLive,

    /** Says what an import would take over of a feed, and makes nothing. Throws what the import would, but for a locked feed. */
    previewFeed: (asker: Asker, feed: { readonly workspaceId: string; readonly feedUrl: string }) =>
      feeds.previewFeed(feed, callOptions(asker)),

    /** Throws `not_found` for a podcast that was not imported, as do the two below. */
    findImport: (asker: Asker, podcast: PodcastTarget) => feeds.getImport(podcast, callOptions(asker)),

    /** The result for each item of an imported feed, in the order of the feed. */
    async *importItems(asker: Asker, podcast: PodcastTarget): AsyncGenerator<readonly ImportItem[]> {
      for (let after = 0; ;) {
        const { items } = await feeds.listImportItems({ ...podcast, after, limit: pageSize }, callOptions(asker));
        if (items.length > 0) yield items;
        if (items.length < pageSize) return;
        after = items.at(-1)!.position;
      }
    },

    /** The same as CSV, a page at a time. */
    async *importLines(asker: Asker, podcast: PodcastTarget): AsyncGenerator<string> {
      for (let after = 0; ;) {
        const page = await feeds.exportImportItems({ ...podcast, after, limit: pageSize }, callOptions(asker));
        if (page.items > 0) yield page.csv;
        if (page.items < pageSize) return;
        after = page.position;
      }
    },
  };
}
