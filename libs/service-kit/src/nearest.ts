/** The least number of characters to insert, remove or replace that makes one text of another (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

const plain = (name: string) => name.toLowerCase().replaceAll('-', '_');

/** Finds the name nearest to a misspelt one: at most a third of its characters differ. Undefined when there is none. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, far: distance(plain(typed), plain(name)) }))
    .filter(({ far }) => far <= Math.floor(typed.length / 3));
  return ranked.toSorted((a, b) => a.far - b.far)[0]?.name;
}

/** A sentence that offers the name nearest to a misspelt one, with a space before it; '' when there is none. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const near = nearest(typed, names);
  return near === undefined ? '' : ` Did you mean “${near}”?`;
}
