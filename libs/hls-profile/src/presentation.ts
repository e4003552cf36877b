import type { Finding } from './finding.ts';
import type { FragmentedBytes } from './mp4/fragments.ts';
import type { InitSection } from './mp4/init-section.ts';
import type { ByteRange, DateRangeTag, MediaPlaylist, MultivariantPlaylist } from './playlist.ts';

export type ResourceKind = 'playlist' | 'asset list' | 'chapters' | 'captions' | 'media';

/** One request of the reader. */
export interface ResourceRequest {
  /** Absolute. */
  readonly url: string;
  readonly kind: ResourceKind;
  /** Only these bytes; the answer is then expected to be a 206. */
  readonly range?: ByteRange | undefined;
}

export interface ResourceAnswer {
  /** After redirects; addresses in it are relative to this one. */
  readonly url: string;
  readonly status: number;
  /** By lower-case name. Absent where nothing was asked by HTTP: then no rule judges headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Gets a resource. It throws an `Error` whose message says why there is no answer, in a sentence. */
export type ReadResource = (request: ResourceRequest) => Promise<ResourceAnswer>;

/** The origin in whose name a reader asks, so that the answer shows what a web page of Apple gets (rule A14). */
export const askingOrigin = 'https://podcasts.apple.com';

export interface AnswerHead {
  readonly where: string;
  readonly kind: ResourceKind;
  readonly headers: Readonly<Record<string, string>>;
}

/** One segment whose bytes were read. */
export interface SegmentRead {
  /** Place in the playlist, from 0. */
  readonly index: number;
  readonly sizeBytes: number;
  /** Of fMP4. */
  readonly media?: FragmentedBytes;
  /** The initialization section that it needs. */
  readonly init?: InitSection;
  /** Of captions. */
  readonly text?: string;
}

export type MediaKind = 'audio' | 'video' | 'iframes' | 'subtitles';

/** A media playlist, and those of its segments that were read. */
export interface MediaRead {
  readonly where: string;
  /** Of the playlist, after redirects. */
  readonly url: string;
  readonly kind: MediaKind;
  readonly playlist: MediaPlaylist;
  readonly inits: readonly InitSection[];
  readonly segments: readonly SegmentRead[];
}

/** An ad of a break. */
export interface AssetRead {
  readonly where: string;
  /** `DURATION` as the asset list has it; undefined without an asset list. */
  readonly duration: unknown;
  /** Undefined when it could not be read; a finding says why. */
  readonly presentation: Presentation | undefined;
}

/** An interstitial. */
export interface BreakRead {
  readonly where: string;
  readonly tag: DateRangeTag;
  /** Of `X-ASSET-LIST`: whether both answers had the same bytes, and what is wrong with the first. */
  readonly list: { readonly isSame: boolean; readonly problems: readonly string[] } | undefined;
  readonly assets: readonly AssetRead[];
}

/** Everything that was read of one presentation. */
export interface Presentation {
  /** Of the multivariant playlist. */
  readonly where: string;
  readonly isAd: boolean;
  readonly main: MultivariantPlaylist;
  /** By address as the multivariant playlist writes it. Two addresses of one playlist lead to the same object. */
  readonly media: ReadonlyMap<string, MediaRead>;
  readonly breaks: readonly BreakRead[];
  /** What EXT-X-SESSION-DATA with chapters leads to: what is wrong with it. */
  readonly chapters: { readonly where: string; readonly problems: readonly string[] } | undefined;
  readonly answers: readonly AnswerHead[];
  /** What could not be read, and what the standard says against the playlists. */
  readonly findings: readonly Finding[];
}
