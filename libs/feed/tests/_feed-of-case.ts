import { readFileSync } from 'node:fs';
import { renderFeed, type FeedEpisode, type FeedHead, type FeedPodcast, type FeedTrailer } from '../src/index.ts';

/** A feed with all of its episodes. */
export interface Feed extends FeedHead {
  readonly episodes: readonly FeedEpisode[];
}

export const casesFolder = new URL('../cases/', import.meta.url);

type Dated<T extends { publishedAt: Date }> = Omit<T, 'publishedAt'> & { readonly publishedAt: string };
interface Case extends Omit<Feed, 'podcast' | 'episodes' | 'changedAt'> {
  readonly podcast: Omit<FeedPodcast, 'trailers'> & { readonly trailers?: readonly Dated<FeedTrailer>[] };
  readonly episodes: readonly Dated<FeedEpisode>[];
  readonly changedAt: string;
}

const dated = <T extends { publishedAt: Date }>(each: Dated<T>) =>
  ({ ...each, publishedAt: new Date(each.publishedAt) }) as unknown as T;

/** The input of cases/{name}.json. */
export function readCase(name: string): Feed {
  const { podcast, episodes, changedAt, paging } = JSON.parse(
    readFileSync(new URL(`${name}.json`, casesFolder), 'utf8'),
  ) as Case;
  return {
    podcast: { ...podcast, trailers: podcast.trailers?.map(dated<FeedTrailer>) },
    episodes: episodes.map(dated<FeedEpisode>),
    changedAt: new Date(changedAt),
    generator: 'Longwave',
    paging,
  };
}

/** The whole document, its episodes given in batches of `batch`. */
export async function textOf({ episodes, ...head }: Feed, batch = 1): Promise<string> {
  const batches = Array.from({ length: Math.ceil(episodes.length / batch) }, (_, i) =>
    episodes.slice(i * batch, (i + 1) * batch),
  );
  let text = '';
  for await (const piece of renderFeed(head, batches)) text += piece;
  return text;
}
