import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import { countSessions, type Session } from './count-sessions.ts';
import { judgeFact, parseTimeMs, type Judgement } from './judge-fact.ts';
import { judgeUserAgent } from './judge-user-agent.ts';
import { mergeRequests, type MergedRequest } from './merge-requests.ts';
import { requestedIntervals } from './requested-intervals.ts';
import { dateOf, type ServedRequest } from './served-request.ts';
import type { UserAgentRules } from './user-agent-rules.ts';
import { judgeVelocity, velocityLimits, type HeldReason, type VelocityLimits } from './velocity.ts';
import { countTouches, type Touch } from './windows.ts';

/** A request with what velocity asks of its address. */
export interface AddressedRequest extends ServedRequest {
  readonly addressKey: string;
  /** The safe list holds the address. */
  readonly addressSafe: boolean;
}

interface Place {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  /** Why it does not count although it reached the threshold (rule 16). */
  readonly held: HeldReason | undefined;
}

interface EpisodeSession extends Place {
  readonly session: Session<AddressedRequest>;
}

interface EpisodeTouch extends Place {
  readonly touch: Touch<AddressedRequest>;
}

export interface Recount {
  /** Facts by judgement; `waiting` for those whose user agent was never told. */
  readonly judged: ReadonlyMap<Judgement | 'waiting', number>;
  readonly sessions: readonly EpisodeSession[];
  readonly touches: readonly EpisodeTouch[];
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
 * Names each listener of an episode by one of its keys, so that a window survives a change of secrets (D5). A link holds for the
 * episode of its fact.
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
 * Counts from nothing but facts, in any order and with any repetition: the reference that incremental counting must equal.
 * @param decided limits of rule 16, and the keys and days (by `keyDay`) that a person has released
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
        ? [[fact.user_agent_digest, judgeUserAgent(rules, fact.user_agent)] as const]
        : [],
    ),
  );
  const judged = new Map<Judgement | 'waiting', number>();
  const served = all.filter((fact) => fact.kind === 'byte_range_served');
  const requestedOf = requestedIntervals(served);
  const eligible = served.filter((fact) => {
    const judgement = judgeFact(fact, agents.get(fact.user_agent_digest ?? ''), requestedOf(fact)) ?? 'waiting';
    judged.set(judgement, (judged.get(judgement) ?? 0) + 1);
    return judgement === 'eligible';
  });
  const threads = [...Map.groupBy(eligible, chainNames(eligible)).values()].map((thread) => {
    const byListener = Map.groupBy(thread, (fact) => fact.listener_key);
    const { workspace_id: workspaceId, podcast_id: podcastId, episode_id: episodeId } = thread[0]!;
    return {
      place: { workspaceId, podcastId, episodeId },
      requests: [...byListener.values()].flatMap(mergeRequests).map(servedRequest),
    };
  });
  const sessions = threads.flatMap(({ place, requests }) =>
    countSessions(requests).map((session) => ({ ...place, session })),
  );
  const heldBy = judgeVelocity(
    sessions.flatMap(({ podcastId, session: { first, download } }) =>
      download === undefined ? [] : [{ podcastId, ...velocityOf(first) }],
    ),
    decided.limits,
    decided.released,
  );
  return {
    judged,
    sessions: sessions.map((one) => ({ ...one, held: one.session.download && heldBy(velocityOf(one.session.first)) })),
    touches: threads.flatMap(({ place, requests }) =>
      countTouches(requests).map((touch) => ({ ...place, touch, held: heldBy(velocityOf(touch.first)) })),
    ),
  };
}
