import type { ProblemCode } from '@longwave/problems';
import type { CountDownloadsRequest } from '@longwave/rpc/audience';
import type { ExecuteRequest } from '@longwave/rpc/command';
import type { FindEnclosuresRequest } from '@longwave/rpc/delivery';

/** The answer of management to a command: a fixture, or a problem. */
export type GivenAnswer =
  | {
      readonly resource: string;
      readonly replayed?: boolean;
      readonly consequences?: readonly object[];
      /** Shown in this answer alone. */
      readonly disclosed?: Readonly<Record<string, string>>;
    }
  | {
      readonly problem: {
        readonly code: ProblemCode;
        readonly detail?: string;
        readonly field?: string;
        readonly neededMs?: number;
        readonly retryAfterSeconds?: number;
      };
    };

/** How the stand-ins answer. */
export interface Given {
  /** By command type, in the order they are sent. */
  readonly commands?: Readonly<Record<string, readonly GivenAnswer[]>>;
  readonly sign?: { readonly problem: ProblemCode };
  /** Credentials are verified when this resolves. */
  readonly verifyAfter?: Promise<void>;
  /** From now on no credential is known. */
  readonly refused?: boolean;
  /** Fixture name → its lifecycle state instead of the stored one. */
  readonly states?: Readonly<Record<string, string>>;
  /** The largest page of a list that fits into one message. */
  readonly maxPageSize?: number;
  /** The queue place of productions that are being encoded; absent: none. */
  readonly queuePlace?: { readonly position: number; readonly startsInMs: bigint; readonly endsInMs: bigint };
  /** Whether public-delivery serves every episode, or none. */
  readonly served?: boolean;
  /** Fixtures that are missing. */
  readonly without?: readonly string[];
}

/** All requests to the stand-ins, and how they answer. */
export interface Scene {
  given: Given;
  commands: ExecuteRequest[];
  counted: CountDownloadsRequest[];
  verified: number;
  signed: number;
  /** The deadline of each call to management. */
  deadlines: Date[];
  /** Requests to public-delivery. */
  enclosures: FindEnclosuresRequest[];
}
