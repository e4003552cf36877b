/** A file and its address. */
export interface FeedEnclosure {
  readonly url: string;
  /** Of the ad-free file, so it is stable. */
  readonly lengthBytes: number;
  readonly contentType: string;
}

/** One rendition of square artwork. */
export interface FeedImage {
  readonly url: string;
  /** Pixels of a side. */
  readonly size: number;
  readonly contentType: string;
}

/** Tag person. */
export interface FeedPerson {
  readonly name: string;
  readonly role?: string | undefined;
  readonly group?: string | undefined;
  readonly imageUrl?: string | undefined;
  readonly link?: string | undefined;
}

/** Tag location. */
export interface FeedLocation {
  readonly name: string;
  /** RFC 5870 */
  readonly geo?: string | undefined;
  /** OpenStreetMap object. */
  readonly osm?: string | undefined;
}

/** Tag license: SPDX identifier or a name with a URL. */
export interface FeedLicense {
  readonly id: string;
  readonly url?: string | undefined;
}

/** Tag valueRecipient. */
export interface FeedValueRecipient {
  readonly name?: string | undefined;
  readonly type: string;
  readonly address: string;
  readonly customKey?: string | undefined;
  readonly customValue?: string | undefined;
  readonly split: number;
  readonly fee?: boolean | undefined;
}

/** Tag value with its recipients and time splits. */
export interface FeedValue {
  readonly type: string;
  readonly method: string;
  readonly suggested?: string | undefined;
  readonly recipients: readonly FeedValueRecipient[];
  /** Tag valueTimeSplit; times are those of the file without ads. */
  readonly timeSplits?:
    | readonly {
        readonly startMs: number;
        readonly durationMs: number;
        readonly remoteStartMs?: number | undefined;
        readonly remotePercentage?: number | undefined;
        readonly remoteItem?: FeedRemoteItem | undefined;
        readonly recipients?: readonly FeedValueRecipient[] | undefined;
      }[]
    | undefined;
}

/** Tag alternateEnclosure: the same episode in another form. */
export interface FeedAlternateEnclosure {
  readonly contentType: string;
  readonly sizeBytes?: number | undefined;
  readonly bitrate?: number | undefined;
  readonly height?: number | undefined;
  readonly language?: string | undefined;
  readonly title?: string | undefined;
  readonly rel?: string | undefined;
  readonly codecs?: string | undefined;
  readonly default?: boolean | undefined;
  readonly integrity?: { readonly type: string; readonly value: string } | undefined;
  readonly sources: readonly { readonly uri: string; readonly contentType?: string | undefined }[];
}

/** Tag remoteItem. */
export interface FeedRemoteItem {
  readonly feedGuid: string;
  readonly feedUrl?: string | undefined;
  readonly itemGuid?: string | undefined;
  readonly title?: string | undefined;
}

/** A podcast in a feed. URLs are absolute. */
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
  readonly medium: 'podcast' | 'music' | 'audiobook' | 'newsletter';
  /** Beside the description, for apps that show both. */
  readonly summary?: string | undefined;
  readonly subtitle?: string | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly managingEditor?: string | undefined;
  readonly author?: string | undefined;
  readonly ownerName?: string | undefined;
  /** Published with the feed, as Apple's itunes:owner and the tag locked ask for it. */
  readonly ownerEmail?: string | undefined;
  readonly artworkUrl?: string | undefined;
  readonly images?: readonly FeedImage[] | undefined;
  readonly copyright?: string | undefined;
  /** The present address of the feed, for directories that still know its old address. */
  readonly newFeedUrl?: string | undefined;
  readonly funding?: readonly { readonly url: string; readonly text: string }[] | undefined;
  readonly persons?: readonly FeedPerson[] | undefined;
  readonly location?: FeedLocation | undefined;
  readonly license?: FeedLicense | undefined;
  readonly texts?: readonly { readonly purpose?: string | undefined; readonly value: string }[] | undefined;
  readonly updateFrequency?:
    | {
        readonly text: string;
        /** No further episode will come; Apple's itunes:complete says it too. */
        readonly complete?: boolean | undefined;
        readonly rrule?: string | undefined;
        /** RFC 3339 */
        readonly start?: string | undefined;
      }
    | undefined;
  /** Slugs of services that must not list the show; "all" is every one. */
  readonly blockedPlatforms?: readonly string[] | undefined;
  readonly podroll?: readonly FeedRemoteItem[] | undefined;
  readonly publisher?: Pick<FeedRemoteItem, 'feedGuid' | 'feedUrl'> | undefined;
  readonly value?: FeedValue | undefined;
  readonly chat?:
    | {
        readonly server: string;
        readonly protocol: string;
        readonly accountId?: string | undefined;
        readonly space?: string | undefined;
      }
    | undefined;
  readonly trailers?: readonly FeedTrailer[] | undefined;
  /** Changes are announced by podping. */
  readonly usesPodping?: boolean | undefined;
  /** The WebSub hub to which changes are announced. */
  readonly hubUrl?: string | undefined;
}

/** Tag trailer: an episode of type trailer, as the channel names it, or a file outside. */
export interface FeedTrailer {
  readonly title: string;
  readonly publishedAt: Date;
  readonly enclosure: Pick<FeedEnclosure, 'url'> & {
    readonly lengthBytes?: number | undefined;
    readonly contentType?: string | undefined;
  };
  readonly season?: number | undefined;
}

/** An episode in a feed. Times are those of the file without ads. */
export interface FeedEpisode {
  /** Never changes. */
  readonly guid: string;
  readonly title: string;
  readonly publishedAt: Date;
  readonly enclosure: FeedEnclosure;
  readonly durationMs: number;
  readonly type: 'full' | 'trailer' | 'bonus';
  /** May hold markup. */
  readonly description?: string | undefined;
  /** A short form of the description; may hold markup. */
  readonly summary?: string | undefined;
  readonly subtitle?: string | undefined;
  readonly author?: string | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly link?: string | undefined;
  readonly season?: number | undefined;
  readonly number?: number | undefined;
  readonly explicit?: boolean | undefined;
  readonly artworkUrl?: string | undefined;
  readonly images?: readonly FeedImage[] | undefined;
  /** Podcasting 2.0 chapters, JSON. */
  readonly chaptersUrl?: string | undefined;
  readonly transcripts?:
    | readonly {
        readonly url: string;
        readonly contentType: string;
        readonly language: string;
        readonly captions: boolean;
      }[]
    | undefined;
  readonly soundbites?:
    | readonly { readonly startMs: number; readonly durationMs: number; readonly title?: string | undefined }[]
    | undefined;
  readonly persons?: readonly FeedPerson[] | undefined;
  readonly location?: FeedLocation | undefined;
  readonly license?: FeedLicense | undefined;
  readonly socialInteract?:
    | readonly {
        readonly protocol: string;
        readonly uri?: string | undefined;
        readonly accountId?: string | undefined;
        readonly accountUrl?: string | undefined;
        readonly priority?: number | undefined;
      }[]
    | undefined;
  readonly value?: FeedValue | undefined;
  readonly alternateEnclosures?: readonly FeedAlternateEnclosure[] | undefined;
  /** Directories hide the episode. */
  readonly blocked?: boolean | undefined;
}

/** The place of a document in a paged feed (RFC 5005 §3). URLs are absolute. */
export interface FeedPaging {
  readonly self: string;
  readonly first: string;
  readonly previous?: string | undefined;
  readonly next?: string | undefined;
  readonly last: string;
}

/** A feed without its episodes. */
export interface FeedHead {
  readonly podcast: FeedPodcast;
  /** The last change of the contents, not of the file. */
  readonly changedAt: Date;
  /** Product name for `generator`. */
  readonly generator: string;
  /** Absent when this document is the whole feed. */
  readonly paging?: FeedPaging | undefined;
}
