export type {
  FeedEnclosure,
  FeedEpisode,
  FeedHead,
  FeedImage,
  FeedLicense,
  FeedLocation,
  FeedPaging,
  FeedPerson,
  FeedPodcast,
  FeedRemoteItem,
  FeedTrailer,
  FeedValue,
} from './feed.ts';
export { renderFeed } from './render-feed.ts';
