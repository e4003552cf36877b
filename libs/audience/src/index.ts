export { addressKeyBytes } from './address.ts';
export { addressRangesSetting } from './address-ranges-setting.ts';
export { createAddressSet, parseAddressRange, type AddressRange, type AddressSet } from './address-set.ts';
export { clientAddress } from './client-address.ts';
export {
  dailyAddressKey,
  keyMonths,
  listenerKey,
  normaliseUserAgent,
  periodSecret,
  userAgentDigest,
} from './listener-key.ts';
export { createNetworkLists, type AddressVerdict, type NetworkLists, type NetworkRanges } from './network-lists.ts';
export { createUserAgentRules, type UserAgentMatch, type UserAgentRules } from './user-agent-rules.ts';
export { methodologyVersion, readAudienceLists, type AudienceLists } from './audience-lists.ts';
export {
  describeUserAgent,
  judgeUserAgent,
  repairUserAgent,
  type UserAgentDescription,
  type UserAgentVerdict,
} from './judge-user-agent.ts';
export { judgeFact, parseTimeMs, rejectionReasons, type Judgement, type RejectionReason } from './judge-fact.ts';
export { requestedIntervals } from './requested-intervals.ts';
export { judgeEvent, type EventJudgement } from './judge-event.ts';
export { maxEventsOfServing } from './event-bounds.ts';
export { totalBytes, unionIntervals, type Interval } from './intervals.ts';
export { creditOf, isValidDownload, type Credit, type Layout } from './credit.ts';
export type { DeliveredAd } from './delivered-ads.ts';
export { dateOf, dayMs, type ServedRequest } from './served-request.ts';
export { countSessions, type CountedDownload, type Session } from './count-sessions.ts';
export { countedStarts, countTouches, windows, type Touch, type Window } from './windows.ts';
export {
  heldReasons,
  isAddressInfeasible,
  isListenerInfeasible,
  keyDay,
  velocityLimits,
  type HeldReason,
  type VelocityLimits,
} from './velocity.ts';
export { mergeRequests, type MergedRequest } from './merge-requests.ts';
export { recount, type AddressedRequest, type EpisodeSession, type EpisodeTouch, type Recount } from './recount.ts';
export {
  judgePrefixRequest,
  mergePrefixMarks,
  type PrefixJudgement,
  type PrefixMark,
  type PrefixRequest,
} from './prefix-mode.ts';
