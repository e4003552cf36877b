import type { UserAgentMatch, UserAgentRules } from './user-agent-rules.ts';

/** What a user agent alone says (measurement.md D4 rules 7, 8, 10, 11). */
export type UserAgentVerdict = 'ok' | 'watch' | 'scout' | 'bot_ua' | 'malformed_ua';

const placeholders = new Set(['-', 'null', '(null)', 'undefined', 'unknown', 'none', 'user-agent']);

/** The published repair table: outer quotes, a header name inside the value, percent-encoding of the whole value. */
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

/** What the lists say of the text as sent or, when they do not know it, of the repaired text. */
function matchRepaired(rules: UserAgentRules, userAgent: string): UserAgentMatch {
  const sent = rules.match(userAgent);
  if (sent.kind !== 'unknown') return sent;
  const repaired = repairUserAgent(userAgent);
  return repaired === userAgent ? sent : rules.match(repaired);
}

/** With what something was downloaded, in the lists' names; 'unknown' where they say nothing. */
export interface UserAgentDescription {
  /** App, browser or library: "Overcast". */
  readonly app: string;
  /** "Apple iPhone". */
  readonly device: string;
  /** Kind of device: mobile, computer, smart_speaker, smart_tv, watch, auto. */
  readonly platform: string;
  /** "iOS", which includes iPadOS. */
  readonly operatingSystem: string;
  /** The app is a browser, so that the page it shows names the player. */
  readonly isBrowser: boolean;
}

/** Names app, device, platform and operating system of a normalised user agent. */
export function describeUserAgent(rules: UserAgentRules, userAgent: string): UserAgentDescription {
  const { kind, name, device, platform, operatingSystem } = matchRepaired(rules, userAgent);
  return { app: name, device, platform, operatingSystem, isBrowser: kind === 'browser' };
}

/**
 * Classifies a normalised user agent, first matching rule of D4's order. The lists see the text as sent and, when they do not know it,
 * the repaired text.
 */
export function classifyUserAgent(rules: UserAgentRules, userAgent: string): UserAgentVerdict {
  if ((userAgent.startsWith('atc/') && userAgent.includes('watchOS')) || userAgent.includes('(null)/(null) watchOS'))
    return 'watch';
  if (/^Podcasts\/.* Scout\//.test(userAgent)) return 'scout';
  const repaired = repairUserAgent(userAgent);
  const match = matchRepaired(rules, userAgent);
  // Who says to be a bot is one, whatever browser or app the text names as well.
  const isBot = match.kind === 'bot' || (match.kind === 'library' && match.category === 'bot');
  if (isBot || rules.declaresBot(repaired)) return 'bot_ua';
  if (/\p{Cc}|\ufffd/u.test(repaired) || !/\p{L}/u.test(repaired) || placeholders.has(repaired.toLowerCase()))
    return 'malformed_ua';
  return 'ok';
}
