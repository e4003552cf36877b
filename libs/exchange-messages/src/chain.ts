/** The last accepted message of a stream. */
export interface ChainHead {
  readonly seq: number;
  readonly digest: string;
  /** RFC 3339. */
  readonly issuedAt: string;
}

/** The knowledge of the receiver when a message arrives. */
export interface StreamState {
  /** Undefined before the first message. */
  readonly head: ChainHead | undefined;
  /** Digest of the accepted message with this number; undefined below 1 and above the head. */
  readonly digestAt: (seq: number) => string | undefined;
  /** Under a hold: nothing new is accepted. */
  readonly quarantined: boolean;
  /** The message is an authority rotation that may end the hold. */
  readonly reopens: boolean;
  /** The subject of the message. */
  readonly subject: {
    /** `source_version` of the last accepted message about it; 0 before the first. */
    readonly acceptedVersion: number;
    readonly revokedVersions: readonly number[];
  };
  /** Digest of the accepted message of this authority with the same `event_id`. */
  readonly knownEventDigest?: string | undefined;
}

/** The part of a message that the chain needs. */
export interface IncomingMessage {
  readonly seq: number;
  readonly prev: string | null;
  readonly digest: string;
  readonly sourceVersion: number;
  /** A content snapshot, which a revocation of its version refuses. */
  readonly isSnapshot: boolean;
  /** RFC 3339. */
  readonly issuedAt: string;
}

/** Exactly one for each message. All but the first two are codes of problems. */
export type ChainVerdict =
  /** The next message. `reopens` when it ends a hold. */
  | { readonly verdict: 'accept'; readonly reopens: boolean }
  /** Accepted before: answer with its original receipt. */
  | { readonly verdict: 'exact_duplicate' }
  | { readonly verdict: 'chain_genesis_invalid' }
  | { readonly verdict: 'stream_quarantined' }
  /** Another message has this position or event id; the two together prove equivocation. */
  | { readonly verdict: 'changed_duplicate'; readonly acceptedDigest: string }
  /** The message continues another history. `acceptedDigest` is of the accepted message that contradicts it. */
  | { readonly verdict: 'chain_fork'; readonly acceptedDigest: string }
  | { readonly verdict: 'chain_gap'; readonly expectedSeq: number; readonly expectedPrev: string | null }
  | { readonly verdict: 'source_version_regression'; readonly acceptedVersion: number }
  | { readonly verdict: 'source_revoked' }
  /** Issued before the message that it follows. */
  | { readonly verdict: 'clock_skew'; readonly notBefore: string };

/** The verdict on the history that a message claims; undefined when it may be the next message. */
function historyVerdict(state: StreamState, incoming: IncomingMessage): ChainVerdict | undefined {
  const { seq, prev, digest } = incoming;
  const headSeq = state.head?.seq ?? 0;
  const headDigest = state.head?.digest ?? null;
  const accepted = state.digestAt(seq);
  if (accepted !== undefined && prev === (state.digestAt(seq - 1) ?? null))
    return { verdict: 'changed_duplicate', acceptedDigest: accepted };
  const known = state.knownEventDigest;
  if (known !== undefined && known !== digest) return { verdict: 'changed_duplicate', acceptedDigest: known };
  if (accepted !== undefined) return { verdict: 'chain_fork', acceptedDigest: accepted };
  if (seq > headSeq + 1) return { verdict: 'chain_gap', expectedSeq: headSeq + 1, expectedPrev: headDigest };
  if (headDigest !== null && prev !== headDigest) return { verdict: 'chain_fork', acceptedDigest: headDigest };
  return undefined;
}

/** The verdict on the subject and the time of the next message; undefined when it may be accepted. */
function contentVerdict(state: StreamState, incoming: IncomingMessage): ChainVerdict | undefined {
  const { acceptedVersion, revokedVersions } = state.subject;
  if (incoming.sourceVersion <= acceptedVersion) return { verdict: 'source_version_regression', acceptedVersion };
  if (incoming.isSnapshot && revokedVersions.includes(incoming.sourceVersion)) return { verdict: 'source_revoked' };
  if (state.head && Date.parse(incoming.issuedAt) < Date.parse(state.head.issuedAt))
    return { verdict: 'clock_skew', notBefore: state.head.issuedAt };
  return undefined;
}

/**
 * Classifies a message whose signature and payload were checked. The order of the verdicts is part of the protocol:
 * a repetition gets its first answer whatever happened to the stream since, and a contradiction is seen before a gap.
 */
export function classifyMessage(state: StreamState, incoming: IncomingMessage): ChainVerdict {
  if ((incoming.seq === 1) !== (incoming.prev === null)) return { verdict: 'chain_genesis_invalid' };
  if (state.digestAt(incoming.seq) === incoming.digest) return { verdict: 'exact_duplicate' };
  if (state.quarantined && !state.reopens) return { verdict: 'stream_quarantined' };
  return (
    historyVerdict(state, incoming) ??
    contentVerdict(state, incoming) ?? { verdict: 'accept', reopens: state.quarantined }
  );
}
