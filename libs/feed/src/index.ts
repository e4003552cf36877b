export type {
  FeedAlternateEnclosure,
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
  FeedValueRecipient,
} from './feed.ts';
export { escapeXml } from './xml.ts';
export { renderFeed } from './render-feed.ts';
