import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import { countSessions, type ServedRequest, type Session } from './count-sessions.ts';
import { unionIntervals } from './intervals.ts';
import { judgeFact, parseTimeMs, type Judgement } from './judge-fact.ts';
import { judgeUserAgent } from './judge-user-agent.ts';
import type { UserAgentRules } from './user-agent-rules.ts';

export interface EpisodeSession {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly session: Session;
}

export interface Recount {
  /** Facts by judgement; `waiting` for those whose user agent was never told. */
  readonly judged: ReadonlyMap<Judgement | 'waiting', number>;
  readonly sessions: readonly EpisodeSession[];
}

/** Merges the eligible facts of one request. */
export function servedRequest(facts: readonly [ByteRangeServed, ...ByteRangeServed[]]): ServedRequest {
  const [fact] = facts;
  return {
    requestId: fact.request_id,
    listenerKey: fact.listener_key,
    arrangementId: fact.arrangement_id,
    layout: { totalBytes: fact.total_bytes, parts: fact.parts },
    startedAtMs: parseTimeMs(fact.started_at),
    written: unionIntervals(facts.flatMap((one) => one.written)),
  };
}

/** Names each listener's chain of keys by one of them, so that a window survives a change of secrets (D5). */
function chainNames(facts: readonly ByteRangeServed[]): (listenerKey: string) => string {
  const parent = new Map<string, string>();
  const root = (key: string): string => {
    const up = parent.get(key);
    return up === undefined ? key : root(up);
  };
  for (const { listener_key, previous_listener_key } of facts) {
    if (previous_listener_key === undefined) continue;
    const [a, b] = [root(listener_key), root(previous_listener_key)];
    if (a !== b) parent.set(a, b);
  }
  return root;
}

/**
 * Counts from nothing but facts, in any order and with any repetition: the reference that incremental counting must equal.
 */
export function recount(facts: Iterable<DeliveryFact>, rules: UserAgentRules): Recount {
  const all = [...new Map([...facts].map((fact) => [fact.fact_id, fact])).values()];
  const agents = new Map(
    all.flatMap((fact) =>
      fact.kind === 'user_agent_seen'
        ? [[fact.user_agent_digest, judgeUserAgent(rules, fact.user_agent)] as const]
        : [],
    ),
  );
  const judged = new Map<Judgement | 'waiting', number>();
  const eligible = all.filter((fact): fact is ByteRangeServed => {
    if (fact.kind !== 'byte_range_served') return false;
    const judgement = judgeFact(fact, agents.get(fact.user_agent_digest ?? '')) ?? 'waiting';
    judged.set(judgement, (judged.get(judgement) ?? 0) + 1);
    return judgement === 'eligible';
  });
  const chain = chainNames(eligible);
  const threads = Map.groupBy(eligible, (fact) => JSON.stringify([chain(fact.listener_key), fact.episode_id]));
  const sessions = [...threads.values()].flatMap((thread) => {
    const byRequest = Map.groupBy(thread, (fact) => JSON.stringify([fact.listener_key, fact.request_id]));
    const requests = [...byRequest.values()].map((own) =>
      servedRequest(own as [ByteRangeServed, ...ByteRangeServed[]]),
    );
    const { workspace_id: workspaceId, podcast_id: podcastId, episode_id: episodeId } = thread[0]!;
    return countSessions(requests).map((session) => ({ workspaceId, podcastId, episodeId, session }));
  });
  return { judged, sessions };
}
