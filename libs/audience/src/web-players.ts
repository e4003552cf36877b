import type { UserAgentList } from './user-agent-rules.ts';

/** Longer than the addresses of real pages; the list sees no more. */
const maxMatchedCharacters = 1_024;

/** Names web players by the pages that they play on: the first entry of OPAWG's referrer list that matches. */
export function createWebPlayerList(list: UserAgentList): (referrer: string | undefined) => string | undefined {
  const players = list.entries.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern) }));
  return (referrer) => {
    if (referrer === undefined) return undefined;
    const page = referrer.slice(0, maxMatchedCharacters);
    return players.find(({ pattern }) => pattern.test(page))?.name;
  };
}
