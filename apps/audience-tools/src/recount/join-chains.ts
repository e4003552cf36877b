import { createDisjointSets } from '@longwave/audience';
import { createPartitions, type Partitions } from '../files/partitions.ts';

/** The keys of one partition, each with its previous key. */
async function readKeys(links: Partitions, index: number): Promise<Map<string, string>> {
  const earlier = new Map<string, string>();
  for await (const group of links.parts[index]!.read())
    for (const [key, before] of group) {
      if ((earlier.get(key) ?? before) !== before) throw new RangeError('a listener key has two earlier keys');
      earlier.set(key, before);
    }
  return earlier;
}

/** The longest chain of a listener: one key a month for a hundred years. */
const maxKeys = 1200;

/**
 * Finds the first key of each listener's chain of keys, which change by the month (docs/counting.md#the-three-windows), with one partition
 * in memory at a time.
 * @param links key → previous key; repetitions are allowed
 * @returns key → first key of its chain, for keys that have a previous one
 */
async function findFirstKeys(links: Partitions, folder: string): Promise<Partitions> {
  const found = createPartitions(folder);
  // Earliest key known so far → the keys whose chain leads to it.
  let open = createPartitions(folder);
  for (const [index] of links.parts.entries())
    for (const [key, before] of await readKeys(links, index)) open.add(before, key);
  for (let steps = 0, left = 1; left > 0; steps += 1) {
    if (steps > maxKeys) throw new RangeError('listener keys precede each other');
    const next = createPartitions(folder);
    left = 0;
    for (const [index, part] of open.parts.entries()) {
      if (part.lines === 0) continue;
      const previous = await readKeys(links, index);
      for await (const group of part.read())
        for (const [earliest, key] of group) {
          const before = previous.get(earliest);
          if (before === undefined) found.add(key, earliest);
          else {
            next.add(before, key);
            left += 1;
          }
        }
    }
    open.remove();
    open = next;
  }
  open.remove();
  return found;
}

/** The keys of each play that several keys used. Memory holds these, and the keys of one partition. */
async function findSharedPlays(plays: Partitions): Promise<string[][]> {
  const shared: string[][] = [];
  for (const part of plays.parts) {
    const keys = new Map<string, Set<string>>();
    for await (const group of part.read())
      for (const [play, key] of group) keys.set(play, (keys.get(play) ?? new Set()).add(key));
    for (const own of keys.values()) if (own.size > 1) shared.push([...own]);
  }
  return shared;
}

/**
 * Brings the lines of each listener together: over changes of secrets, and of keys that used the tokens of the same plays
 * (docs/counting.md#one-play-several-keys), which may be one listener. Removes all three partitions.
 * @param lines listener key → line
 * @param links key → previous key
 * @param plays play → listener key
 * @returns the same lines, each under one key of its group
 */
export async function joinChains(
  lines: Partitions,
  { links, plays }: { readonly links: Partitions; readonly plays: Partitions },
  folder: string,
): Promise<Partitions> {
  const shared = await findSharedPlays(plays);
  plays.remove();
  if (shared.length === 0 && links.parts.every((part) => part.lines === 0)) {
    links.remove();
    return lines;
  }
  const firstKeys = await findFirstKeys(links, folder);
  links.remove();
  const groups = createDisjointSets();
  const keys = new Set(shared.flat());
  for (const part of firstKeys.parts)
    for await (const group of part.read()) for (const [key, first] of group) if (keys.has(key)) groups.join(key, first);
  for (const own of shared) for (const key of own) groups.join(own[0]!, key);
  const joined = createPartitions(folder);
  for (const [index, part] of lines.parts.entries()) {
    const first = await readKeys(firstKeys, index);
    for await (const group of part.read())
      for (const [key, line] of group) joined.add(groups.setOf(first.get(key) ?? key), line);
  }
  firstKeys.remove();
  lines.remove();
  return joined;
}
