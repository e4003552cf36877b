import type { Attributes } from './attributes.ts';

/** Some bytes of a resource. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** What the standard says against one line, in a sentence that says what to do. */
export interface SyntaxProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** A tag with attributes, as it stands in a playlist. */
export interface AttributeTag {
  readonly line: number;
  readonly attributes: Attributes;
}

interface AnyPlaylist {
  readonly version: number | undefined;
  readonly problems: readonly SyntaxProblem[];
  /** Whether addresses contain variables (EXT-X-DEFINE), which this library does not fill in. */
  readonly hasVariables: boolean;
}

/** A variant: EXT-X-STREAM-INF with the address on the next line. */
export interface Variant extends AttributeTag {
  readonly uri: string;
}

/** Multivariant playlist (RFC 8216 §4.3.4). */
export interface MultivariantPlaylist extends AnyPlaylist {
  readonly kind: 'multivariant';
  readonly variants: readonly Variant[];
  /** EXT-X-MEDIA */
  readonly renditions: readonly AttributeTag[];
  /** EXT-X-I-FRAME-STREAM-INF */
  readonly iframes: readonly AttributeTag[];
  /** EXT-X-SESSION-DATA */
  readonly sessionData: readonly AttributeTag[];
}

/** Initialization section (EXT-X-MAP). */
export interface MapTag {
  readonly uri: string;
  readonly range: ByteRange | undefined;
}

export interface Segment {
  /** Of the address. */
  readonly line: number;
  readonly uri: string;
  readonly durationSeconds: number;
  /** Sum of the durations before it. */
  readonly startSeconds: number;
  readonly range: ByteRange | undefined;
  readonly map: MapTag | undefined;
  readonly isDiscontinuity: boolean;
}

/** EXT-X-DATERANGE */
export interface DateRangeTag extends AttributeTag {
  /** The whole line. */
  readonly text: string;
}

/** Media playlist (RFC 8216 §4.3.2, §4.3.3). */
export interface MediaPlaylist extends AnyPlaylist {
  readonly kind: 'media';
  readonly targetSeconds: number | undefined;
  readonly playlistType: string | undefined;
  readonly isIFramesOnly: boolean;
  readonly hasEndList: boolean;
  readonly isEncrypted: boolean;
  readonly segments: readonly Segment[];
  readonly dateRanges: readonly DateRangeTag[];
  /** Milliseconds since 1970 at the first segment; undefined when no segment before the first discontinuity has a date. */
  readonly startsAt: number | undefined;
  readonly lengthSeconds: number;
}

export type Playlist = MultivariantPlaylist | MediaPlaylist;
