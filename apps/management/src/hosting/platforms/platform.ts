import type { Attributes } from '@longwave/command-catalog';

/** A platform by its name in the catalog. */
type PlatformName = Attributes<'platform_submissions'>['platform'];
export type PlatformAction = 'submit' | 'refresh' | 'withdraw';
export type ExternalReceipt = NonNullable<Attributes<'platform_submissions'>['external_receipt']>;

/** What a platform is told of a submission. */
export interface Submission {
  /** Our own stable identity of it: the key under which the platform takes it once, and tells its state. */
  readonly id: string;
  /** The platform's name of it, once it has given one. */
  readonly externalId: string | undefined;
  /** The lasting address of the episode's playlist. */
  readonly playlistUrl: string;
  /** The GUID of the episode in its feed, whose item stays as it is. */
  readonly episodeGuid: string;
  readonly podcastGuid: string;
}

/** A request to a platform, without its credential. */
export interface PlatformRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; absent for a GET. */
  readonly body?: string;
}

/** An answer as it came. */
export interface PlatformAnswer {
  readonly status: number;
  readonly body: string;
}

/** What an answer that was understood says of the submission. */
export type PlatformStatement =
  | {
      readonly kind: 'submitted' | 'accepted' | 'withdrawn';
      readonly externalId: string;
      /** The platform's reference of this exchange. */
      readonly receiptId?: string | undefined;
    }
  /** The platform's own words. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly receiptId?: string | undefined }
  /** It has nothing under our identity. */
  | { readonly kind: 'absent' }
  /** It contradicts what was sent or answered before. */
  | { readonly kind: 'conflicting'; readonly known: string; readonly receiptId?: string | undefined };

/**
 * A platform that takes presentations: the port of its adapter. Everything but the credential is pure, from a submission to a request and
 * from an answer to a statement. What a missing, late or broken answer means is the same for all platforms (ask-platform.ts).
 */
export interface Platform {
  /** As people call it. */
  readonly title: string;
  /** The request of each action. */
  readonly request: Readonly<Record<PlatformAction, (submission: Submission) => PlatformRequest>>;
  /** What an answer says; undefined for one that it does not understand. */
  readonly read: (
    action: PlatformAction,
    submission: Submission,
    answer: PlatformAnswer,
  ) => PlatformStatement | undefined;
  /** The value of the `authorization` header for the next minutes. Rejects when the key cannot be used. */
  readonly authorize: (now: Date) => Promise<string>;
}

/** A platform, or what its operator has yet to set. */
export type PlatformAccess =
  | { readonly platform: Platform; readonly missing?: undefined }
  | { readonly platform?: undefined; readonly missing: string };

export type Platforms = Readonly<Record<PlatformName, PlatformAccess>>;
