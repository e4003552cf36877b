import type { UserAgentList } from './user-agent-rules.ts';

/** The list sees no more characters: the addresses of real pages are shorter. */
const maxMatchedCharacters = 1_024;

/** Finds web players by the page that they play on: the first entry of OPAWG's referrer list that matches. */
export function createWebPlayerList(list: UserAgentList): (referrer: string | undefined) => string | undefined {
  const players = list.entries.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern) }));
  return (referrer) => {
    if (referrer === undefined) return undefined;
    const page = referrer.slice(0, maxMatchedCharacters);
    return players.find(({ pattern }) => pattern.test(page))?.name;
  };
}
