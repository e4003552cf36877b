import type { FeedEpisode, FeedPodcast } from '@longwave/feed';
import type { TranscriptCue } from '@longwave/transcript';

/** A podcast as its feed shows it, and where its pages are. URLs are absolute. */
export interface SiteShow {
  readonly podcast: FeedPodcast;
  /** The page of the podcast, without a slash at the end; those of its episodes lie below. */
  readonly url: string;
  /** What the addresses of our own pictures begin with. Others are not loaded: they would tell their host who reads. */
  readonly mediaUrl: string;
}

/** An episode as its feed shows it, and its page. */
export interface SiteEpisode extends FeedEpisode {
  readonly url: string;
  /** Its audio is here, so the page plays it; another host's is a link. */
  readonly isHere: boolean;
  /** What tells other pages how to show its player (oEmbed 1.0); undefined where it has none. */
  readonly oembedUrl?: string | undefined;
}

/** A chapter at its time in the file without ads. */
export interface SiteChapter {
  readonly startMs: number;
  readonly title: string;
  readonly url?: string | undefined;
}

/** What an episode's page shows beyond the feed. */
export interface SiteEpisodeDetails {
  readonly chapters: readonly SiteChapter[];
  /** A listener may hear ads, which move the times of chapters. */
  readonly mayHaveAds: boolean;
  readonly transcript?: { readonly language: string; readonly cues: readonly TranscriptCue[] } | undefined;
}

/** A page of the list of episodes, newest first. */
export interface SiteEpisodeList {
  readonly episodes: readonly SiteEpisode[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}
