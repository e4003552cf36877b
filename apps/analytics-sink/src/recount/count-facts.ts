import { keyDay, velocityLimits, type UserAgentRules } from '@longwave/audience';
import type { ByteRangeServed, UserAgentSeen } from '@longwave/events';
import { createFrequencySketch } from '../files/frequency-sketch.ts';
import { createPartitions, visitPartitions, type Partition } from '../files/partitions.ts';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { addAddressDays, countGroup, infeasibleDays, type CountRange, type ListenerGroup } from './count-group.ts';
import type { FactLine } from './fact-file.ts';
import { joinChains } from './join-chains.ts';
import { createTally, type Tally } from './tally.ts';

/** What one partition may hold when nothing else is said: some 100 MB of memory. */
const usualFacts = 50_000;

/** Rules that remember what they found: user agents are few, their facts are many. */
function rememberMatches(rules: UserAgentRules): UserAgentRules {
  const found = new Map<string, ReturnType<UserAgentRules['match']>>();
  return {
    match: (userAgent) => {
      const known = found.get(userAgent) ?? rules.match(userAgent);
      found.set(userAgent, known);
      return known;
    },
  };
}

/** Facts of a partition, each once, with what is known of their user agents. Layouts that are alike become one. */
async function readGroup(part: Partition, seen: ReadonlyMap<string, UserAgentSeen>): Promise<ListenerGroup> {
  const layouts = new Map<string, ByteRangeServed['parts']>();
  const facts = new Map<string, ByteRangeServed>();
  for await (const group of part.read())
    for (const [, line] of group) {
      const fact = JSON.parse(line) as ByteRangeServed;
      const layout = JSON.stringify(fact.parts);
      const parts = layouts.get(layout) ?? fact.parts;
      layouts.set(layout, parts);
      facts.set(fact.fact_id, { ...fact, parts });
    }
  const digests = new Set([...facts.values()].map((fact) => fact.user_agent_digest));
  return { facts: [...facts.values()], seen: [...digests].flatMap((digest) => seen.get(digest ?? '') ?? []) };
}

/**
 * Counts from facts alone, by `recount` of libs/audience, however many they are: facts go into temporary files, each listener's
 * into one of them, and are counted file by file. Memory holds one such file and the user agents.
 * @param files the facts of each, in groups; the same fact may be in several
 * @param options.mostFacts that are counted at once
 */
export async function countFacts(
  files: readonly AsyncIterable<readonly FactLine[]>[],
  rules: UserAgentRules,
  range: CountRange,
  options: { readonly temporaryFolder: string; readonly onFacts: (count: number) => void; readonly mostFacts?: number },
): Promise<Tally> {
  const { mostFacts = usualFacts } = options;
  using folder = temporaryFolder(options.temporaryFolder);
  const lines = createPartitions(folder.path);
  const links = createPartitions(folder.path);
  const seen = new Map<string, UserAgentSeen>();
  // A download has one fact at least, so an address with few facts of a day has no more downloads.
  const addressFacts = createFrequencySketch();
  for (const file of files)
    for await (const group of file) {
      for (const { fact, line } of group) {
        if (fact.kind === 'user_agent_seen') {
          seen.set(fact.user_agent_digest, fact);
          continue;
        }
        lines.add(fact.listener_key, line);
        if (fact.previous_listener_key !== undefined) links.add(fact.listener_key, fact.previous_listener_key);
        if (fact.address_safe !== true)
          addressFacts.add(keyDay('address', fact.address_key, new Date(fact.started_at).toISOString().slice(0, 10)));
      }
      options.onFacts(group.length);
    }
  const byListener = await joinChains(lines, links, folder.path);
  const remembering = rememberMatches(rules);
  const downloads = new Map<string, number>();
  const mayExceed = (addressDay: string) => addressFacts.atMost(addressDay) > velocityLimits.addressDownloads;
  if (addressFacts.greatest() > velocityLimits.addressDownloads)
    for await (const part of visitPartitions(byListener, folder.path, mostFacts))
      addAddressDays(await readGroup(part, seen), remembering, mayExceed, downloads);
  const heldDays = infeasibleDays(downloads);
  const tally = createTally();
  for await (const part of visitPartitions(byListener, folder.path, mostFacts))
    countGroup(await readGroup(part, seen), remembering, range, heldDays, tally);
  return tally;
}
