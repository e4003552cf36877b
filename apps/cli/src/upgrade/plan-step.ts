/** The step from the release that last used the data to this one. */
export type Step =
  { readonly kind: 'forward' | 'same' | 'back' } | { readonly kind: 'refused'; readonly because: string };

const parts = (version: string) => version.split('.').map(Number);

/** Below 0 when the first version is the earlier one. */
function compareVersions(one: string, other: string): number {
  const b = parts(other);
  return (
    parts(one)
      .map((part, at) => part - (b[at] ?? 0))
      .find((difference) => difference !== 0) ?? 0
  );
}

/**
 * Decides whether the installation may go to this release. Every release is proven on the schema of the next one alone, so no release
 * between is left out.
 * @param from the release of the data; undefined before releases noted themselves (0.6.0 and earlier)
 * @param releases the versions there are, the earliest first
 */
export function planStep(
  from: string | undefined,
  own: string,
  releases: readonly string[],
  { goesBack }: { readonly goesBack: boolean },
): Step {
  const refuse = (because: string): Step => ({ kind: 'refused', because });
  const order = compareVersions(from ?? '0.6.0', own);
  if (order > 0 && !goesBack)
    return refuse(`The data is of version ${from}, and this is the older ${own}. To go back: add --back.`);
  if (order < 0 && goesBack)
    return refuse(`The data is of version ${from}: this is a newer one, so --back leads nowhere.`);
  if (order === 0 && goesBack)
    return refuse(
      `The data is of version ${own}, which is this one, so --back leads nowhere. Type it in the folder of the release before.`,
    );
  if (order > 0) return { kind: 'back' };
  if (order === 0) return { kind: 'same' };
  const between = releases.filter(
    (version) => compareVersions(version, from ?? '0.6.0') > 0 && compareVersions(version, own) < 0,
  );
  const [next] = between;
  return next === undefined
    ? { kind: 'forward' }
    : refuse(`Go to version ${next} first: ${own} is proven to follow ${between.at(-1)} alone.`);
}
