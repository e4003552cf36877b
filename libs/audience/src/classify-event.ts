import type { DeliveryEvent } from '@longwave/events';
import type { Judgement } from './classify-fact.ts';
import type { UserAgentVerdict } from './classify-user-agent.ts';

/** How a player's report is classified: `excess` when its serving already has as many of its kind as can happen. */
export type EventJudgement = Judgement | 'excess';

/**
 * Classifies a player's own report (measurement.md D11) by the rules of D4 that concern who sent it: 6 to 8 and 10 to 12. The signature of
 * its address was checked where it came in.
 * @param agent what its user agent says; undefined while its text is unknown
 * @returns undefined when the answer must wait for the user agent's text
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
