import { addBit, createBits, hasBit, intersect, removeBit, type Bits } from './bitset.ts';

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

/** Sets kept per dimension: one for every combination of values that plays came with lately. */
const keptMax = 256;

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

  function build(wanted: readonly string[]): Bits {
    const bits = unconstrained.slice();
    for (const value of wanted) for (const ordinal of included.get(value) ?? []) addBit(bits, ordinal);
    for (const value of wanted) for (const ordinal of excluded.get(value) ?? []) removeBit(bits, ordinal);
    return bits;
  }

  const kept = new Map<string, Bits>();
  function keptBits(wanted: readonly string[]): Bits {
    const key = wanted.length === 1 ? wanted[0]! : wanted.join('\0');
    const found = kept.get(key);
    if (found) return found;
    const bits = build(wanted);
    if (kept.size >= keptMax) kept.clear();
    kept.set(key, bits);
    return bits;
  }

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
    allowed: values === 'few' ? keptBits : undefined,
    narrow: narrowByLists,
    allows: (ordinal, wanted) =>
      (hasBit(unconstrained, ordinal) || wanted.some((value) => contains(included.get(value), ordinal))) &&
      !wanted.some((value) => contains(excluded.get(value), ordinal)),
  };
}
