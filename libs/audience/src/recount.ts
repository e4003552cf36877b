import type { DeliveryFact } from '@longwave/events';
import { countSessions, type Session } from './count-sessions.ts';
import { classifyFact, parseTimeMs } from './classify-fact.ts';
import { classifyUserAgent } from './classify-user-agent.ts';
import { createDisjointSets } from './disjoint-sets.ts';
import { mergeRequests, type MergedRequest } from './merge-requests.ts';
import { requestedIntervals } from './requested-intervals.ts';
import { servedBytesOf, type ServedBytes } from './served-bytes.ts';
import { dateOf, type PlayUse, type ServedRequest } from './served-request.ts';
import { splitListeners } from './split-listeners.ts';
import { wholeTracks, type Track } from './track.ts';
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

/** How a fact's request used the token of a play; undefined outside of the 24 h in which that may join two keys. */
function playUseOf({ play_id, play_address_key, user_agent_digest }: ServedBytes): PlayUse | undefined {
  if (play_id === undefined || play_address_key === undefined || user_agent_digest === null) return undefined;
  return { playId: play_id, addressKey: play_address_key, userAgentDigest: user_agent_digest };
}

const servedRequest = (
  { requestId, first, written }: MergedRequest,
  tracks: ReadonlyMap<string, Track>,
): AddressedRequest => ({
  requestId,
  listenerKey: first.listener_key,
  arrangementId: first.arrangement_id,
  layout: { totalBytes: first.total_bytes, parts: first.parts, track: first.track },
  startedAtMs: parseTimeMs(first.started_at),
  written,
  addressKey: first.address_key,
  addressSafe: first.address_safe === true,
  track: tracks.get(first.track ?? ''),
  play: playUseOf(first),
});

/**
 * Names the listener-episode chain of each fact: the keys of one listener for one episode that `previous_listener_key` links over changes
 * of secrets (docs/counting.md#the-three-windows); and the group of chains that used the tokens of the same plays.
 */
function chainNames(facts: readonly ServedBytes[]) {
  const [chains, groups] = [createDisjointSets(), createDisjointSets()];
  const nameOf = (key: string, { episode_id }: ServedBytes) => `${key} ${episode_id}`;
  for (const fact of facts) {
    if (fact.previous_listener_key === undefined && fact.play_id === undefined) continue;
    const name = nameOf(fact.listener_key, fact);
    if (fact.previous_listener_key !== undefined) {
      chains.join(name, nameOf(fact.previous_listener_key, fact));
      groups.join(name, nameOf(fact.previous_listener_key, fact));
    }
    if (fact.play_id !== undefined) groups.join(name, `play ${nameOf(fact.play_id, fact)}`);
  }
  return {
    chainOf: (listenerKey: string, episodeId: string) => chains.setOf(`${listenerKey} ${episodeId}`),
    groupOf: (fact: ServedBytes) => groups.setOf(nameOf(fact.listener_key, fact)),
  };
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
  const tracks = wholeTracks(all.filter((fact) => fact.kind === 'track_described'));
  const served = all
    .filter((fact) => fact.kind === 'byte_range_served' || fact.kind === 'media_range_served')
    .map(servedBytesOf);
  const requestedOf = requestedIntervals(served);
  const eligible = served.filter(
    (fact) =>
      classifyFact(fact, agents.get(fact.user_agent_digest ?? ''), requestedOf(fact), tracks.has(fact.track ?? '')) ===
      'eligible',
  );
  const { chainOf, groupOf } = chainNames(eligible);
  const chains = [...Map.groupBy(eligible, groupOf).values()].flatMap((group) => {
    const byListener = Map.groupBy(group, (fact) => fact.listener_key);
    const { workspace_id: workspaceId, podcast_id: podcastId, episode_id: episodeId } = group[0]!;
    const requests = [...byListener.values()].flatMap(mergeRequests).map((one) => servedRequest(one, tracks));
    return splitListeners(requests, ({ listenerKey }) => chainOf(listenerKey, episodeId)).map((own) => ({
      place: { workspaceId, podcastId, episodeId },
      requests: own,
    }));
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
