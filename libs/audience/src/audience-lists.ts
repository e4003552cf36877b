import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { createNetworkLists, parseAddressRanges, parseSafeEntries, type NetworkLists } from './network-lists.ts';
import { createPreloadList, parsePreloadEntries } from './preload-list.ts';
import { createWebPlayerList } from './web-players.ts';
import { createUserAgentRules, userAgentListSchema, type UserAgentRules } from './user-agent-rules.ts';

/** Version of the counting method that docs/counting.md describes; every count carries it. */
export const methodologyVersion = 'longwave-1.3/ptmg-2.3';

export interface AudienceLists {
  readonly networks: NetworkLists;
  readonly userAgents: UserAgentRules;
  /** Whether rule 13 rejects a request (docs/counting.md#rule-13), by its `Referer` as sent and its normalised user agent. */
  readonly isPreload: (referrer: string | undefined, userAgent: string) => boolean;
  /** The web player of a `Referer` as sent, by OPAWG's name; undefined when the list has none. */
  readonly findWebPlayer: (referrer: string | undefined) => string | undefined;
  /** The sources' commits and a digest of all files: any edit gives another version. */
  readonly listsVersion: string;
}

const sourcesSchema = z.record(
  z.string(),
  z.object({ repository: z.string(), commit: z.string(), licence: z.string() }),
);

/**
 * Reads and compiles the lists of a data folder (libs/audience/data or an operator's copy of it).
 * Throws the file system's error, `ZodError` or `RangeError` when a file is missing or wrong: a service must not count without lists.
 * @param nowMs decides which entries of the safe list still hold
 */
export function readAudienceLists(folder: string, nowMs: () => number): AudienceLists {
  const digest = createHash('sha256');
  const read = (...name: string[]) => {
    const text = readFileSync(path.join(folder, ...name), 'utf8');
    digest.update(`${name.join('/')}\n${text.length}\n${text}`);
    return text;
  };
  const agents = (name: string) =>
    userAgentListSchema.parse(JSON.parse(read('opawg-user-agents-v2', `${name}.runtime.json`)));
  const corrections = (name: string) => userAgentListSchema.parse(JSON.parse(read('corrections', `${name}.json`)));
  const sources = sourcesSchema.parse(JSON.parse(read('sources.json')));
  const userAgents = createUserAgentRules({
    bots: agents('bots'),
    apps: agents('apps'),
    libraries: agents('libraries'),
    browsers: agents('browsers'),
    devices: agents('devices'),
    local: userAgentListSchema.parse(JSON.parse(read('local', 'user-agents.json'))),
    corrections: {
      notBots: corrections('not-bots'),
      libraries: corrections('libraries'),
      devices: corrections('devices'),
    },
    operatingSystems: corrections('operating-systems'),
  });
  const networks = createNetworkLists(
    {
      dataCentres: parseAddressRanges(read('ipcat', 'datacenters.csv')),
      vpn: parseAddressRanges(read('local', 'vpn.csv')),
      tor: parseAddressRanges(read('local', 'tor.csv')),
      deny: parseAddressRanges(read('local', 'deny.csv')),
      safe: parseSafeEntries(read('local', 'safe.csv')),
    },
    nowMs,
  );
  const preloads = parsePreloadEntries(read('local', 'preload.csv'));
  const onPreloadList = createPreloadList(preloads);
  const isPreload = (referrer: string | undefined, userAgent: string) => {
    // Nearly always the list is empty: then the user-agent lists need not be searched.
    if (preloads.length === 0) return false;
    const { kind, name } = userAgents.match(userAgent);
    return onPreloadList(referrer, kind === 'browser' ? name : undefined);
  };
  const findWebPlayer = createWebPlayerList(agents('referrers'));
  const commits = Object.entries(sources).map(([name, source]) => `${name}@${source.commit}`);
  const listsVersion = `${commits.join('+')}+${digest.digest('hex').slice(0, 12)}`;
  return { networks, userAgents, isPreload, findWebPlayer, listsVersion };
}
