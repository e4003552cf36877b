export type {
  FeedAlternateEnclosure,
  FeedEnclosure,
  FeedEpisode,
  FeedHead,
  FeedImage,
  FeedPaging,
  FeedPerson,
  FeedPodcast,
  FeedTrailer,
  FeedValue,
} from './feed.ts';
export { renderFeed } from './render-feed.ts';
