import { dateOf, keyDay, parseTimeMs, velocityLimits, type UserAgentRules } from '@longwave/audience';
import type { UserAgentSeen } from '@longwave/events';
import { createFrequencySketch } from '../files/frequency-sketch.ts';
import { createPartitions, visitPartitions, type Partition } from '../files/partitions.ts';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { createBills } from './count-bills.ts';
import {
  addAddressDays,
  countGroup,
  infeasibleDays,
  knownDays,
  type ListenerGroup,
  type ServedFact,
} from './count-group.ts';
import type { FileLine, VelocityDayEntry } from './fact-file.ts';
import { joinChains } from './join-chains.ts';
import { createTally, type Tally, type CountRange } from './tally.ts';
import { createTrackFolder, type TrackFolder } from './track-folder.ts';

/** Facts of one partition: some 100 MB of memory. */
const usualFacts = 50_000;

/** Caches the matches: user agents are few, their facts are many. */
function cacheMatches(rules: UserAgentRules): UserAgentRules {
  const found = new Map<string, ReturnType<UserAgentRules['match']>>();
  return {
    ...rules,
    match: (userAgent) => {
      const known = found.get(userAgent) ?? rules.match(userAgent);
      found.set(userAgent, known);
      return known;
    },
  };
}

/** User agents and tracks that facts name, by digest. */
interface Dictionary {
  readonly seen: Map<string, UserAgentSeen>;
  readonly described: TrackFolder;
}

/** The facts of a partition, each once, and what they name. Equal layouts share one object. */
async function readGroup(part: Partition, { seen, described }: Dictionary): Promise<ListenerGroup> {
  const layouts = new Map<string, Extract<ServedFact, { kind: 'byte_range_served' }>['parts']>();
  const facts = new Map<string, ServedFact>();
  for await (const group of part.read())
    for (const [, line] of group) {
      const fact = JSON.parse(line) as ServedFact;
      if (fact.kind === 'media_range_served') {
        facts.set(fact.fact_id, fact);
        continue;
      }
      const layout = JSON.stringify(fact.parts);
      const parts = layouts.get(layout) ?? fact.parts;
      layouts.set(layout, parts);
      facts.set(fact.fact_id, { ...fact, parts });
    }
  const digests = new Set([...facts.values()].map((fact) => fact.user_agent_digest));
  const tracks = new Set([...facts.values()].flatMap((fact) => ('track' in fact ? [fact.track] : [])));
  return {
    facts: [...facts.values()],
    seen: [...digests].flatMap((digest) => seen.get(digest ?? '') ?? []),
    described: [...tracks].flatMap((digest) => described.find(digest)),
  };
}

/**
 * Counts any number of facts by `recount` of libs/audience: they go into temporary files, each listener's into one, and are counted file
 * by file. Memory holds one such file with its tracks of HLS, and the user agents.
 * @param files the facts of each, in groups; several files may have the same fact
 * @param options.maxFacts of one temporary file
 */
export async function countFacts(
  files: readonly AsyncIterable<readonly FileLine[]>[],
  rules: UserAgentRules,
  range: CountRange,
  options: { readonly temporaryFolder: string; readonly onFacts: (count: number) => void; readonly maxFacts?: number },
): Promise<Tally> {
  const { maxFacts = usualFacts } = options;
  using folder = temporaryFolder(options.temporaryFolder);
  const lines = createPartitions(folder.path);
  const links = createPartitions(folder.path);
  const bills = createBills(folder.path);
  const plays = createPartitions(folder.path);
  const dictionary: Dictionary = { seen: new Map(), described: createTrackFolder(folder.path) };
  const velocityDays: VelocityDayEntry[] = [];
  // A download has at least one fact, so an address never has more downloads of a day than facts.
  const addressFacts = createFrequencySketch();
  for (const file of files)
    for await (const group of file) {
      for (const { entry, line } of group) {
        if (entry.kind === 'user_agent_seen') dictionary.seen.set(entry.user_agent_digest, entry);
        else if (entry.kind === 'track_described') dictionary.described.add(entry, line);
        else if (entry.kind === 'velocity_day') velocityDays.push(entry);
        else if (entry.kind === 'billed_before') bills.add(entry.serving_id, Date.parse(entry.started_at), undefined);
        else {
          lines.add(entry.listener_key, line);
          if (entry.kind === 'media_range_served' && !entry.late) plays.add(entry.play_id, entry.listener_key);
          if (entry.previous_listener_key !== undefined) links.add(entry.listener_key, entry.previous_listener_key);
          if (entry.address_safe !== true)
            addressFacts.add(keyDay('address', entry.address_key, dateOf(parseTimeMs(entry.started_at))));
        }
      }
      options.onFacts(group.length);
    }
  const byListener = await joinChains(lines, { links, plays }, folder.path);
  const cached = cacheMatches(rules);
  const downloads = new Map<string, number>();
  const mayExceed = (addressDay: string) => addressFacts.atMost(addressDay) > velocityLimits.addressDownloads;
  if (addressFacts.greatest() > velocityLimits.addressDownloads)
    for await (const part of visitPartitions(byListener, folder.path, maxFacts))
      addAddressDays(await readGroup(part, dictionary), cached, mayExceed, downloads);
  const { released, held } = knownDays(velocityDays);
  const days = { released, held: held.union(infeasibleDays(downloads).difference(released)) };
  const tally = createTally();
  for await (const part of visitPartitions(byListener, folder.path, maxFacts))
    countGroup(await readGroup(part, dictionary), cached, range, days, tally, bills);
  await bills.count(range, tally);
  return tally;
}
