import { LRUCache } from 'lru-cache';
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
  /** The operator's deny list: searched first, and every match is a bot. */
  readonly local: UserAgentList;
  readonly corrections: {
    /** Names that hold the word bot, crawler or spider and are no bots. */
    readonly notBots: UserAgentList;
    /** Searched before OPAWG's list. */
    readonly libraries: UserAgentList;
    readonly devices: UserAgentList;
  };
  /** Ours: OPAWG has no such list. */
  readonly operatingSystems: UserAgentList;
}

/** The entry of the lists that matches a user agent. `name` is 'unknown' when none does. */
export interface UserAgentMatch {
  readonly kind: 'bot' | 'app' | 'library' | 'browser' | 'unknown';
  readonly name: string;
  readonly category?: string;
  /** Name and category in the device list; 'unknown' when no entry matches. */
  readonly device: string;
  readonly platform: string;
  /** Name in the list of operating systems; 'unknown' when no entry matches. */
  readonly operatingSystem: string;
}

export interface UserAgentRules {
  match(userAgent: string): UserAgentMatch;
  /** Whether the text says bot, crawler or spider outside the names of the exception list. */
  declaresBot(userAgent: string): boolean;
}

/** The lists see no more characters: a longer text would make their patterns search for long, and no real app sends one. */
const maxMatchedCharacters = 1_024;

/** Texts whose match is remembered: a few apps in few versions send most requests. */
const maxRemembered = 2_000;

const botWords = /bot|crawler|spider/i;

/**
 * The same pattern without a leading `.*`, which makes the search start anew at every character and changes no match; of a leading `.+`
 * one character stays.
 */
const withoutLead = (pattern: string): string =>
  pattern.replace(/^\.([*+])(?![*+?{])/, (_, quantifier) => (quantifier === '+' ? '.' : ''));

/**
 * Compiles the lists once. `match` searches them in OPAWG's order (bots, apps, libraries, browsers), corrections before the list that
 * they correct. `declaresBot` first removes the names of the exception list from the text, so that "Cubot" does not excuse "Googlebot".
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
  const remembered = new LRUCache<string, UserAgentMatch>({ max: maxRemembered });

  function search(text: string): UserAgentMatch {
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
  }

  return {
    declaresBot: (userAgent) => {
      const text = userAgent.slice(0, maxMatchedCharacters);
      if (!botWords.test(text)) return false;
      return botWords.test(notBots.reduce((rest, exception) => rest.replace(exception, ' '), text));
    },
    match: (userAgent) => {
      // A part of a longer text would keep the whole text in memory.
      if (userAgent.length > maxMatchedCharacters) return search(userAgent.slice(0, maxMatchedCharacters));
      const known = remembered.get(userAgent);
      if (known) return known;
      const match = search(userAgent);
      remembered.set(userAgent, match);
      return match;
    },
  };
}
