import type { UserAgentRules } from './user-agent-rules.ts';

/** What a user agent alone says (measurement.md D4 rules 7, 8, 10, 11). */
export type UserAgentVerdict = 'ok' | 'watch' | 'scout' | 'bot_ua' | 'malformed_ua';

const placeholders = new Set(['-', 'null', '(null)', 'undefined', 'unknown', 'none', 'user-agent']);

/** The published repair table: outer quotes, a header name inside the value, percent-encoding of the whole value. */
export function repairUserAgent(userAgent: string): string {
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

/**
 * Judges a normalised user agent, first matching rule of D4's order. The lists see the text as sent and, when they do not know it,
 * the repaired text.
 */
export function judgeUserAgent(rules: UserAgentRules, userAgent: string): UserAgentVerdict {
  if ((userAgent.startsWith('atc/') && userAgent.includes('watchOS')) || userAgent.includes('(null)/(null) watchOS'))
    return 'watch';
  if (/^Podcasts\/.* Scout\//.test(userAgent)) return 'scout';
  const repaired = repairUserAgent(userAgent);
  const sent = rules.match(userAgent);
  const match = sent.kind === 'unknown' && repaired !== userAgent ? rules.match(repaired) : sent;
  if (match.kind === 'bot' || (match.kind === 'library' && match.category === 'bot')) return 'bot_ua';
  if (match.kind === 'unknown' && /bot|crawler|spider/i.test(repaired)) return 'bot_ua';
  if (/\p{Cc}|\ufffd/u.test(repaired) || !/\p{L}/u.test(repaired) || placeholders.has(repaired.toLowerCase()))
    return 'malformed_ua';
  return 'ok';
}
