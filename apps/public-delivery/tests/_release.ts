import { until } from '@longwave/test-kit';
import { publishEvents, type Bench, type Show } from './_support.ts';
import { itemsOf, type Ask } from './_ask.ts';

/** Publishes a show's events, in the given order, waits for the feed to show the episode, and answers its enclosure. */
export const releaseWith =
  (bench: () => Bench, ask: Ask) =>
  async (
    show: Show,
    order: readonly (keyof Show['events'])[] = ['podcast', 'episode', 'production'],
  ): Promise<string> => {
    await publishEvents(
      bench().bus,
      order.map((name) => show.events[name]),
    );
    const items = await until(async () => {
      const feed = await ask(`/feeds/${show.subdomain}.xml`);
      const found = feed.status === 200 ? itemsOf(feed.body) : [];
      return found.length > 0 && found;
    });
    return items[0]!.enclosure['@_url'];
  };
