export type { Feed, FeedEpisode, FeedPodcast } from './feed.ts';
export { renderFeed } from './render-feed.ts';
