import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import { countSessions, type Session } from './count-sessions.ts';
import { classifyFact, parseTimeMs } from './classify-fact.ts';
import { classifyUserAgent } from './classify-user-agent.ts';
import { mergeRequests, type MergedRequest } from './merge-requests.ts';
import { requestedIntervals } from './requested-intervals.ts';
import { dateOf, type ServedRequest } from './served-request.ts';
import type { UserAgentRules } from './user-agent-rules.ts';
import { findVelocityHolds, velocityLimits, type HeldReason, type VelocityLimits } from './velocity.ts';
import { countRollingDownloads, type RollingDownload } from './windows.ts';

/** A request with the address that rule 16 counts it for. */
export interface AddressedRequest extends ServedRequest {
  readonly addressKey: string;
  /** The safe list holds the address. */
  readonly addressSafe: boolean;
}

interface Place {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  /** Why rule 16 holds it (docs/counting.md#rule-16). */
  readonly held: HeldReason | undefined;
}

interface EpisodeSession extends Place {
  readonly session: Session<AddressedRequest>;
}

interface EpisodeRollingDownload extends Place {
  readonly rollingDownload: RollingDownload<AddressedRequest>;
}

export interface Recount {
  readonly sessions: readonly EpisodeSession[];
  readonly rollingDownloads: readonly EpisodeRollingDownload[];
}

const servedRequest = ({ requestId, first, written }: MergedRequest): AddressedRequest => ({
  requestId,
  listenerKey: first.listener_key,
  arrangementId: first.arrangement_id,
  layout: { totalBytes: first.total_bytes, parts: first.parts },
  startedAtMs: parseTimeMs(first.started_at),
  written,
  addressKey: first.address_key,
  addressSafe: first.address_safe === true,
});

/**
 * Names the listener-episode chain of each fact: the keys of one listener for one episode that `previous_listener_key` links over changes
 * of secrets (docs/counting.md#the-three-windows).
 */
function chainNames(facts: readonly ByteRangeServed[]): (fact: ByteRangeServed) => string {
  const parent = new Map<string, string>();
  const root = (name: string): string => {
    const up = parent.get(name);
    return up === undefined ? name : root(up);
  };
  const nameOf = (key: string, { episode_id }: ByteRangeServed) => `${key} ${episode_id}`;
  for (const fact of facts) {
    if (fact.previous_listener_key === undefined) continue;
    const [a, b] = [root(nameOf(fact.listener_key, fact)), root(nameOf(fact.previous_listener_key, fact))];
    if (a !== b) parent.set(a, b);
  }
  return (fact) => root(nameOf(fact.listener_key, fact));
}

const velocityOf = ({ listenerKey, addressKey, addressSafe, startedAtMs }: AddressedRequest) => ({
  listenerKey,
  addressKey,
  addressSafe,
  windowOn: dateOf(startedAtMs),
});

/**
 * Counts facts in any order and with any repetition: the reference that incremental counting must equal.
 * @param decided limits of rule 16, and the keys and days (by `keyDay`) that people have released
 */
export function recount(
  facts: Iterable<DeliveryFact>,
  rules: UserAgentRules,
  decided: { readonly limits: VelocityLimits; readonly released: ReadonlySet<string> } = {
    limits: velocityLimits,
    released: new Set(),
  },
): Recount {
  const all = [...new Map([...facts].map((fact) => [fact.fact_id, fact])).values()];
  const agents = new Map(
    all.flatMap((fact) =>
      fact.kind === 'user_agent_seen'
        ? [[fact.user_agent_digest, classifyUserAgent(rules, fact.user_agent)] as const]
        : [],
    ),
  );
  const served = all.filter((fact) => fact.kind === 'byte_range_served');
  const requestedOf = requestedIntervals(served);
  const eligible = served.filter(
    (fact) => classifyFact(fact, agents.get(fact.user_agent_digest ?? ''), requestedOf(fact)) === 'eligible',
  );
  const chains = [...Map.groupBy(eligible, chainNames(eligible)).values()].map((chain) => {
    const byListener = Map.groupBy(chain, (fact) => fact.listener_key);
    const { workspace_id: workspaceId, podcast_id: podcastId, episode_id: episodeId } = chain[0]!;
    return {
      place: { workspaceId, podcastId, episodeId },
      requests: [...byListener.values()].flatMap(mergeRequests).map(servedRequest),
    };
  });
  const sessions = chains.flatMap(({ place, requests }) =>
    countSessions(requests).map((session) => ({ ...place, session })),
  );
  const holdReasonOf = findVelocityHolds(
    sessions.flatMap(({ podcastId, session: { first, download } }) =>
      download === undefined ? [] : [{ podcastId, ...velocityOf(first) }],
    ),
    decided.limits,
    decided.released,
  );
  return {
    sessions: sessions.map((one) => ({
      ...one,
      held: one.session.download && holdReasonOf(velocityOf(one.session.first)),
    })),
    rollingDownloads: chains.flatMap(({ place, requests }) =>
      countRollingDownloads(requests).map((one) => ({
        ...place,
        rollingDownload: one,
        held: holdReasonOf(velocityOf(one.first)),
      })),
    ),
  };
}
