import { z } from 'zod';

/** One file of the OPAWG v2 runtime lists. */
export const userAgentListSchema = z.object({
  entries: z.array(z.object({ name: z.string(), pattern: z.string(), category: z.string().optional() })),
});

export type UserAgentList = z.infer<typeof userAgentListSchema>;

export interface UserAgentLists {
  readonly bots: UserAgentList;
  readonly apps: UserAgentList;
  readonly libraries: UserAgentList;
  readonly browsers: UserAgentList;
  readonly devices: UserAgentList;
  /** Our own deny list; consulted first, always bots. */
  readonly local: UserAgentList;
  readonly corrections: {
    /** What holds the word of a bot in its name and is none. */
    readonly notBots: UserAgentList;
    /** Consulted before OPAWG's. */
    readonly libraries: UserAgentList;
    readonly devices: UserAgentList;
  };
  /** Ours: OPAWG has none. */
  readonly operatingSystems: UserAgentList;
}

/** What the lists say of a user agent. `name` is 'unknown' when nothing matches. */
export interface UserAgentMatch {
  readonly kind: 'bot' | 'app' | 'library' | 'browser' | 'unknown';
  readonly name: string;
  readonly category?: string;
  /** Name and category in the device list, which is matched apart; 'unknown' when nothing matches. */
  readonly device: string;
  readonly platform: string;
  /** By a list of its own; 'unknown' when nothing matches. */
  readonly operatingSystem: string;
}

export interface UserAgentRules {
  match(userAgent: string): UserAgentMatch;
  /** Whether the text itself says bot, crawler or spider, beyond the names of the exception list. */
  declaresBot(userAgent: string): boolean;
}

/** Longer than any user agent of a real app; the lists see no more, so that no text makes their patterns search for long. */
const maxMatchedCharacters = 1_024;

const botWords = /bot|crawler|spider/i;

/**
 * The same test without a search that begins anew at every character: before a match `.*` asks for nothing, `.+` for one character.
 */
const withoutLead = (pattern: string): string =>
  pattern.replace(/^\.([*+])(?![*+?{])/, (_, quantifier) => (quantifier === '+' ? '.' : ''));

/**
 * Compiles the lists once; `match` walks them in OPAWG's order: bots, apps, libraries, browsers; corrections come before the list that
 * they correct. Both tests see the first 1,024
 * characters. A name of the exception list is taken out of the text, so that "Cubot" beside "Googlebot" excuses nobody.
 */
export function createUserAgentRules(lists: UserAgentLists): UserAgentRules {
  const compile = (kind: UserAgentMatch['kind'], list: UserAgentList) =>
    list.entries.map((entry) => ({
      kind,
      name: entry.name,
      category: entry.category,
      pattern: new RegExp(withoutLead(entry.pattern)),
    }));
  const inOrder = [
    ...compile('bot', lists.local),
    ...compile('bot', lists.bots),
    ...compile('app', lists.apps),
    ...compile('library', lists.corrections.libraries),
    ...compile('library', lists.libraries),
    ...compile('browser', lists.browsers),
  ];
  const devices = [...compile('unknown', lists.corrections.devices), ...compile('unknown', lists.devices)];
  const operatingSystems = compile('unknown', lists.operatingSystems);
  const notBots = lists.corrections.notBots.entries.map(({ pattern }) => new RegExp(pattern, 'g'));
  return {
    declaresBot: (userAgent) => {
      const text = userAgent.slice(0, maxMatchedCharacters);
      if (!botWords.test(text)) return false;
      return botWords.test(notBots.reduce((rest, exception) => rest.replace(exception, ' '), text));
    },
    match: (userAgent) => {
      const text = userAgent.slice(0, maxMatchedCharacters);
      const found = inOrder.find(({ pattern }) => pattern.test(text));
      const device = devices.find(({ pattern }) => pattern.test(text));
      const operatingSystem = operatingSystems.find(({ pattern }) => pattern.test(text));
      return {
        kind: found?.kind ?? 'unknown',
        name: found?.name ?? 'unknown',
        ...(found?.category !== undefined && { category: found.category }),
        device: device?.name ?? 'unknown',
        platform: device?.category ?? 'unknown',
        operatingSystem: operatingSystem?.name ?? 'unknown',
      };
    },
  };
}
