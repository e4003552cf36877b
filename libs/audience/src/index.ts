export { addressKeyBytes } from './address.ts';
export { addressRangesSetting } from './address-ranges-setting.ts';
export { createAddressSet, parseAddressRange, type AddressSet } from './address-set.ts';
export { clientAddress } from './client-address.ts';
export { createSenderOf, type SenderOf } from './sender-of.ts';
export {
  dailyAddressKey,
  keyMonths,
  listenerKey,
  normaliseUserAgent,
  periodSecret,
  userAgentDigest,
} from './listener-key.ts';
export { createNetworkLists, type AddressVerdict, type NetworkLists } from './network-lists.ts';
export { createUserAgentRules, type UserAgentRules } from './user-agent-rules.ts';
export { methodologyVersion, readAudienceLists, type AudienceLists } from './audience-lists.ts';
export {
  describeUserAgent,
  classifyUserAgent,
  type UserAgentDescription,
  type UserAgentVerdict,
} from './classify-user-agent.ts';
export { classifyFact, parseTimeMs, rejectionReasons, type Judgement } from './classify-fact.ts';
export { requestedIntervals } from './requested-intervals.ts';
export { servedBytesOf, type ServedBytes } from './served-bytes.ts';
export { divideCells, wholeTracks, type Track } from './track.ts';
export { createDisjointSets } from './disjoint-sets.ts';
export { maxKeysOfPlay, splitListeners } from './split-listeners.ts';
export { classifyEvent, type EventJudgement } from './classify-event.ts';
export { maxEventsOfServing } from './event-bounds.ts';
export { unionIntervals, type Interval } from './intervals.ts';
export { type Layout } from './credit.ts';
export { dateOf, dayMs, type ServedRequest } from './served-request.ts';
export { countSessions, type Session } from './count-sessions.ts';
export { type DeliveredAd } from './delivered-ads.ts';
export { countedStarts, countRollingDownloads, windows, type RollingDownload, type Window } from './windows.ts';
export {
  isAddressInfeasible,
  isListenerInfeasible,
  keyDay,
  velocityLimits,
  type HeldReason,
  type VelocityLimits,
} from './velocity.ts';
export { mergeRequests } from './merge-requests.ts';
export { recount, type AddressedRequest, type Recount } from './recount.ts';
export { classifyPrefixRequest, mergePrefixMarks, type PrefixJudgement, type PrefixMark } from './prefix-mode.ts';
