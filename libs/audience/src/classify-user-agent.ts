import type { UserAgentMatch, UserAgentRules } from './user-agent-rules.ts';

/** The verdict of rules 7, 8, 10 and 11 on a user agent (docs/counting.md#rules-and-reason-codes). */
export type UserAgentVerdict = 'ok' | 'watch' | 'scout' | 'bot_ua' | 'malformed_ua';

const placeholders = new Set(['-', 'null', '(null)', 'undefined', 'unknown', 'none', 'user-agent']);

/** Repairs a user agent as docs/counting.md#rules-and-reason-codes says: outer quotes, a header name in the value, percent-encoding. */
function repairUserAgent(userAgent: string): string {
  const bare = userAgent
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/^user-agent:\s*/i, '')
    .trim();
  if (!/%2f/i.test(bare) || /[ /]/.test(bare)) return bare;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

/** Matches the text as sent or, when the lists do not know it, the repaired text. */
function matchRepaired(rules: UserAgentRules, userAgent: string): UserAgentMatch {
  const sent = rules.match(userAgent);
  if (sent.kind !== 'unknown') return sent;
  const repaired = repairUserAgent(userAgent);
  return repaired === userAgent ? sent : rules.match(repaired);
}

/** The app and device of a user agent, by the lists' names; 'unknown' when the lists have no entry. */
export interface UserAgentDescription {
  /** App, browser or library: "Overcast". */
  readonly app: string;
  /** "Apple iPhone". */
  readonly device: string;
  /** Kind of device: mobile, computer, smart_speaker, smart_tv, watch, auto. */
  readonly platform: string;
  /** "iOS", which includes iPadOS. */
  readonly operatingSystem: string;
  /** The app is a browser: then the page that it shows names the player. */
  readonly isBrowser: boolean;
}

/** Names app, device, platform and operating system of a normalised user agent. */
export function describeUserAgent(rules: UserAgentRules, userAgent: string): UserAgentDescription {
  const { kind, name, device, platform, operatingSystem } = matchRepaired(rules, userAgent);
  return { app: name, device, platform, operatingSystem, isBrowser: kind === 'browser' };
}

/** Classifies a normalised user agent by rules 7, 8, 10 and 11: the first that matches decides (docs/counting.md#rules-and-reason-codes). */
export function classifyUserAgent(rules: UserAgentRules, userAgent: string): UserAgentVerdict {
  if ((userAgent.startsWith('atc/') && userAgent.includes('watchOS')) || userAgent.includes('(null)/(null) watchOS'))
    return 'watch';
  if (/^Podcasts\/.* Scout\//.test(userAgent)) return 'scout';
  const repaired = repairUserAgent(userAgent);
  const match = matchRepaired(rules, userAgent);
  // A text that declares a bot is a bot's, whatever browser or app it names as well.
  const isBot = match.kind === 'bot' || (match.kind === 'library' && match.category === 'bot');
  if (isBot || rules.declaresBot(repaired)) return 'bot_ua';
  if (/\p{Cc}|\ufffd/u.test(repaired) || !/\p{L}/u.test(repaired) || placeholders.has(repaired.toLowerCase()))
    return 'malformed_ua';
  return 'ok';
}
