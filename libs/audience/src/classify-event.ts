import type { DeliveryEvent } from '@longwave/events';
import type { Judgement } from './classify-fact.ts';
import type { UserAgentVerdict } from './classify-user-agent.ts';

/** How a player's report is classified: `excess` when its serving has already as many of its kind as one play can give. */
export type EventJudgement = Judgement | 'excess';

/**
 * Classifies a player's own report by the rules about its sender, 6 to 8 and 10 to 12 (docs/counting.md#what-players-report). public-delivery
 * has checked the signature of the address that it came to.
 * @param agent the verdict on its user agent; undefined while its text is unknown
 * @returns undefined when the judgement needs the user agent's text
 */
export function classifyEvent(
  event: Pick<DeliveryEvent, 'user_agent_digest' | 'address_verdict'>,
  agent: UserAgentVerdict | undefined,
): Judgement | undefined {
  if (event.user_agent_digest === null) return 'no_ua';
  if (agent === undefined) return undefined;
  if (agent !== 'ok') return agent;
  return event.address_verdict === 'ok' ? 'eligible' : event.address_verdict;
}
