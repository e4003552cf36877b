import { addBit, createBits, hasBit, intersect, removeBit, subtract, unite, type Bits } from './bitset.ts';

/** One dimension of targeting over all line items: per value the ordinals that include or exclude it, ascending. */
export interface Dimension {
  /** False when no line item targets by it. */
  readonly constrained: boolean;
  /** Everything that may serve where the context has these values; absent for a dimension of many values. */
  readonly allowed: ((values: readonly string[]) => Bits) | undefined;
  /** Takes from `bits` what may not serve where the context has these values; exclusion wins over inclusion. */
  readonly narrow: (bits: Bits, values: readonly string[]) => void;
  readonly allows: (ordinal: number, values: readonly string[]) => boolean;
}

export interface Lists {
  readonly include: Iterable<string>;
  readonly exclude: Iterable<string>;
}

type Postings = Map<string, number[]>;

/** Sets cached per dimension: one for every combination of values in recent plays, and one for each of these values. */
const maxCachedSets = 256;

/** Sets by name; a full cache is emptied. */
function createSetCache() {
  const cached = new Map<string, Bits>();
  return (name: string, build: () => Bits): Bits => {
    const found = cached.get(name);
    if (found) return found;
    const bits = build();
    if (cached.size >= maxCachedSets) cached.clear();
    cached.set(name, bits);
    return bits;
  };
}

function post(postings: Postings, value: string, ordinal: number): void {
  const list = postings.get(value);
  if (!list) postings.set(value, [ordinal]);
  else if (list.at(-1) !== ordinal) list.push(ordinal);
}

function contains(ascending: readonly number[] | undefined, ordinal: number): boolean {
  if (!ascending) return false;
  let low = 0;
  for (let high = ascending.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < ordinal) low = middle + 1;
    else high = middle;
  }
  return ascending[low] === ordinal;
}

/**
 * Indexes one dimension.
 * @param cardinality `few`: plays have few different values, so the whole set of each is cached (one AND a decision);
 *   `many`: only lists are kept, and a decision touches the unconstrained line items and those that name its values
 * @param whenEmpty whether a line item that includes nothing serves everywhere or nowhere
 */
export function indexDimension(
  lists: readonly Lists[],
  cardinality: 'few' | 'many',
  whenEmpty: 'everywhere' | 'nowhere' = 'everywhere',
): Dimension {
  const size = lists.length;
  const unconstrained = createBits(size);
  const included: Postings = new Map();
  const excluded: Postings = new Map();
  let constrained = whenEmpty === 'nowhere';
  lists.forEach(({ include, exclude }, ordinal) => {
    let empty = true;
    for (const value of include) {
      empty = false;
      post(included, value, ordinal);
    }
    if (empty && whenEmpty === 'everywhere') addBit(unconstrained, ordinal);
    for (const value of exclude) post(excluded, value, ordinal);
    constrained ||= !empty;
  });
  constrained ||= excluded.size > 0;

  const [includedSets, excludedSets, allowedSets] = [createSetCache(), createSetCache(), createSetCache()];
  const setOf = (ordinals: readonly number[]) => () => {
    const bits = createBits(size);
    for (const ordinal of ordinals) addBit(bits, ordinal);
    return bits;
  };
  function build(values: readonly string[]): Bits {
    const bits = unconstrained.slice();
    for (const value of values) {
      const ordinals = included.get(value);
      if (ordinals) unite(bits, includedSets(value, setOf(ordinals)));
    }
    for (const value of values) {
      const ordinals = excluded.get(value);
      if (ordinals) subtract(bits, excludedSets(value, setOf(ordinals)));
    }
    return bits;
  }
  const allowedBits = (values: readonly string[]) =>
    allowedSets(values.length === 1 ? values[0]! : values.join('\0'), () => build(values));

  function narrowByLists(bits: Bits, values: readonly string[]): void {
    const including: number[] = [];
    for (const value of values)
      for (const ordinal of included.get(value) ?? []) if (hasBit(bits, ordinal)) including.push(ordinal);
    intersect(bits, unconstrained);
    for (const ordinal of including) addBit(bits, ordinal);
    for (const value of values) for (const ordinal of excluded.get(value) ?? []) removeBit(bits, ordinal);
  }

  return {
    constrained,
    allowed: cardinality === 'few' ? allowedBits : undefined,
    narrow: narrowByLists,
    allows: (ordinal, values) =>
      (hasBit(unconstrained, ordinal) || values.some((value) => contains(included.get(value), ordinal))) &&
      !values.some((value) => contains(excluded.get(value), ordinal)),
  };
}
