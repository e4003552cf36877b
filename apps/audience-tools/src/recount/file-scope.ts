import { UnusableFactFile, type FactFileHeader } from './fact-file.ts';
import type { FactScope } from './fact-range.ts';

const atMs = (time: string | null, unbounded: number) => (time === null ? unbounded : Date.parse(time));
const asDate = (ms: number) => (Number.isFinite(ms) ? new Date(ms) : undefined);

/**
 * The scope that these files cover together. Throws `UnusableFactFile` when their scopes differ or their ranges leave a gap.
 */
export function combineHeaders(headers: readonly [FactFileHeader, ...FactFileHeader[]]): FactScope {
  const [{ workspace_id, podcast_id }] = headers;
  if (headers.some((one) => one.workspace_id !== workspace_id || one.podcast_id !== podcast_id))
    throw new UnusableFactFile('The files are of different workspaces or podcasts. Count them one by one.');
  const ranges = headers
    .map(({ from, to }) => ({ fromMs: atMs(from, -Infinity), toMs: atMs(to, Infinity) }))
    .sort((a, b) => a.fromMs - b.fromMs);
  const { fromMs } = ranges[0]!;
  let { toMs } = ranges[0]!;
  for (const range of ranges) {
    if (range.fromMs > toMs)
      throw new UnusableFactFile(
        `No file contains ${new Date(toMs).toISOString()} to ${new Date(range.fromMs).toISOString()}. Export that range too.`,
      );
    toMs = Math.max(toMs, range.toMs);
  }
  return {
    from: asDate(fromMs),
    to: asDate(toMs),
    workspaceId: workspace_id ?? undefined,
    podcastId: podcast_id ?? undefined,
  };
}

/** Narrows a scope to a part of its range. Throws `UnusableFactFile` when the part is not within it. */
export function narrowScope(scope: FactScope, from: Date | undefined, to: Date | undefined): FactScope {
  const [fromMs, toMs] = [from?.getTime() ?? scope.from?.getTime(), to?.getTime() ?? scope.to?.getTime()];
  const within = (ms: number | undefined) =>
    ms === undefined || (ms >= (scope.from?.getTime() ?? -Infinity) && ms <= (scope.to?.getTime() ?? Infinity));
  if (!within(fromMs) || !within(toMs))
    throw new UnusableFactFile(
      `The files contain ${scope.from?.toISOString() ?? 'the beginning'} to ${scope.to?.toISOString() ?? 'the end'}. ` +
        'Choose --from and --to within this range.',
    );
  return { ...scope, from: from ?? scope.from, to: to ?? scope.to };
}
