import type { ProblemCode } from '@longwave/problems';
import type { CountDownloadsRequest } from '@longwave/rpc/audience';
import type { ExecuteRequest } from '@longwave/rpc/command';
import type { FindEnclosuresRequest } from '@longwave/rpc/delivery';

/** What management answers to a command: a fixture, or a problem. */
type GivenAnswer =
  | { readonly resource: string; readonly replayed?: boolean; readonly consequences?: readonly object[] }
  | {
      readonly problem: {
        readonly code: ProblemCode;
        readonly detail?: string;
        readonly field?: string;
        readonly neededMs?: number;
      };
    };

/** What the stand-ins shall answer. */
export interface Given {
  /** By command type, in the order they are sent. */
  readonly commands?: Readonly<Record<string, readonly GivenAnswer[]>>;
  readonly sign?: { readonly problem: ProblemCode };
  /** Credentials are verified when this resolves. */
  readonly verifyAfter?: Promise<void>;
  /** From now on no credential is known. */
  readonly refused?: boolean;
  /** Fixture name → lifecycle state it has meanwhile. */
  readonly states?: Readonly<Record<string, string>>;
  /** The largest page of a list that fits into one message. */
  readonly pageSizeMax?: number;
  /** Where productions that are encoded stand in the queue; absent: nothing is known of it. */
  readonly queuePlace?: { readonly position: number; readonly startsInMs: bigint; readonly endsInMs: bigint };
  /** Public Delivery serves every episode that it is asked about; else none. */
  readonly served?: boolean;
  /** Fixtures that are not there. */
  readonly without?: readonly string[];
}

/** Everything the stand-ins were asked, and what they shall answer. */
export interface Scene {
  given: Given;
  commands: ExecuteRequest[];
  counted: CountDownloadsRequest[];
  verified: number;
  signed: number;
  /** Until when each call to management may take. */
  deadlines: Date[];
  /** What Public Delivery was asked. */
  enclosures: FindEnclosuresRequest[];
}
