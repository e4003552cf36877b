import { addBit, createBits, hasBit, intersect, removeBit, subtract, unite, type Bits } from './bitset.ts';

/** One dimension of targeting over all line items: per value the ordinals that include or exclude it, ascending. */
export interface Dimension {
  /** False when no line item says anything about it. */
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

/** Sets kept per dimension: one for every combination of values that plays came with lately, and one for each value of them. */
const keptMax = 256;

/** Sets by name, all forgotten when there are too many. */
function createKept() {
  const kept = new Map<string, Bits>();
  return (name: string, build: () => Bits): Bits => {
    const found = kept.get(name);
    if (found) return found;
    const bits = build();
    if (kept.size >= keptMax) kept.clear();
    kept.set(name, bits);
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
 * @param values `few`: plays come with few different values, so the whole set of each is kept once built (one AND a decision);
 *   `many`: only lists are kept, and a decision touches the unconstrained line items and those that name its values
 * @param whenEmpty whether a line item that includes nothing serves everywhere or nowhere
 */
export function indexDimension(
  lists: readonly Lists[],
  values: 'few' | 'many',
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

  const [keptIncluded, keptExcluded, keptAllowed] = [createKept(), createKept(), createKept()];
  const setOf = (ordinals: readonly number[]) => () => {
    const bits = createBits(size);
    for (const ordinal of ordinals) addBit(bits, ordinal);
    return bits;
  };
  function build(wanted: readonly string[]): Bits {
    const bits = unconstrained.slice();
    for (const value of wanted) {
      const ordinals = included.get(value);
      if (ordinals) unite(bits, keptIncluded(value, setOf(ordinals)));
    }
    for (const value of wanted) {
      const ordinals = excluded.get(value);
      if (ordinals) subtract(bits, keptExcluded(value, setOf(ordinals)));
    }
    return bits;
  }
  const allowedBits = (wanted: readonly string[]) =>
    keptAllowed(wanted.length === 1 ? wanted[0]! : wanted.join('\0'), () => build(wanted));

  function narrowByLists(bits: Bits, wanted: readonly string[]): void {
    const named: number[] = [];
    for (const value of wanted)
      for (const ordinal of included.get(value) ?? []) if (hasBit(bits, ordinal)) named.push(ordinal);
    intersect(bits, unconstrained);
    for (const ordinal of named) addBit(bits, ordinal);
    for (const value of wanted) for (const ordinal of excluded.get(value) ?? []) removeBit(bits, ordinal);
  }

  return {
    constrained,
    allowed: values === 'few' ? allowedBits : undefined,
    narrow: narrowByLists,
    allows: (ordinal, wanted) =>
      (hasBit(unconstrained, ordinal) || wanted.some((value) => contains(included.get(value), ordinal))) &&
      !wanted.some((value) => contains(excluded.get(value), ordinal)),
  };
}
