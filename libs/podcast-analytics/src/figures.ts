const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** Part of a total, 0 to 1 with six digits; 0 of nothing. */
export const shareOf = (part: number, total: number): number => (total === 0 ? 0 : round(part / total, 6));

/** Growth since an earlier count, 0.25 for a quarter more, with four digits; null when there is nothing to compare with. */
export const changeSince = (earlier: number | undefined, now: number): number | null =>
  earlier === undefined || earlier === 0 ? null : round((now - earlier) / earlier, 4);

/** Counts with their parts of the total of all of them. */
export function withShares<T extends { readonly downloads: number }>(counts: readonly T[]): (T & { share: number })[] {
  const total = counts.reduce((sum, { downloads }) => sum + downloads, 0);
  return counts.map((count) => ({ ...count, share: shareOf(count.downloads, total) }));
}
