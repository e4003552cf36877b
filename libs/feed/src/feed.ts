/** What a feed says of the show. URLs are absolute. */
export interface FeedPodcast {
  readonly title: string;
  readonly description: string;
  /** The show's page. */
  readonly link: string;
  /** This feed's own public address. */
  readonly feedUrl: string;
  /** BCP 47. */
  readonly language: string;
  /** Podcasting 2.0 guid (UUIDv5 of the first feed address). */
  readonly guid: string;
  /** Apple's names, "Parent" or "Parent > Child", the main one first. */
  readonly categories: readonly string[];
  readonly explicit: boolean;
  readonly type: 'episodic' | 'serial';
  /** Other hosts must not import this feed. */
  readonly locked: boolean;
  readonly medium: 'podcast' | 'audiobook' | 'newsletter';
  readonly author?: string | undefined;
  readonly ownerName?: string | undefined;
  readonly artworkUrl?: string | undefined;
  readonly copyright?: string | undefined;
}

/** What a feed says of one episode. */
export interface FeedEpisode {
  /** Never changes. */
  readonly guid: string;
  readonly title: string;
  readonly publishedAt: Date;
  /** `lengthBytes` is that of the ad-free rendition, so it is stable. */
  readonly enclosure: { readonly url: string; readonly lengthBytes: number; readonly contentType: string };
  readonly durationMs: number;
  readonly type: 'full' | 'trailer' | 'bonus';
  /** May hold markup. */
  readonly description?: string | undefined;
  readonly link?: string | undefined;
  readonly season?: number | undefined;
  readonly number?: number | undefined;
  readonly explicit?: boolean | undefined;
  readonly artworkUrl?: string | undefined;
}

export interface Feed {
  readonly podcast: FeedPodcast;
  /** Rendered in this order; newest first is usual. */
  readonly episodes: readonly FeedEpisode[];
  /** The last change of what the feed says, not of the file. */
  readonly changedAt: Date;
  /** Product name for `generator`. */
  readonly generator: string;
}
