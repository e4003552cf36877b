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

/**
 * Brings the lines of each listener together over changes of secrets. Removes `lines` and `links`.
 * @param lines listener key → line
 * @param links key → previous key
 * @returns the same lines, each under the first key of its listener's chain
 */
export async function joinChains(lines: Partitions, links: Partitions, folder: string): Promise<Partitions> {
  if (links.parts.every((part) => part.lines === 0)) {
    links.remove();
    return lines;
  }
  const firstKeys = await findFirstKeys(links, folder);
  links.remove();
  const joined = createPartitions(folder);
  for (const [index, part] of lines.parts.entries()) {
    const first = await readKeys(firstKeys, index);
    for await (const group of part.read()) for (const [key, line] of group) joined.add(first.get(key) ?? key, line);
  }
  firstKeys.remove();
  lines.remove();
  return joined;
}
