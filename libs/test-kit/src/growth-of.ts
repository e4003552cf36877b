/** Work that takes less CPU time counts as this much; below it garbage collection decides. */
const leastMs = 2;

/** The least CPU time of three runs, in milliseconds: what other processes do meanwhile does not count. */
function cpuMs(work: () => void): number {
  const runs = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.max(leastMs, Math.min(...runs));
}

/**
 * How many times more CPU time work takes on an input of four times the size: about 4 when it is linear, 16 when it takes the square.
 * @param prepare makes the input of a size and returns the work to measure; the input's making is not measured
 * @param size of the greater input; the square of it must take at least tenths of a second, or nothing is shown
 */
export function growthOf(prepare: (size: number) => () => void, size: number): number {
  const small = prepare(Math.floor(size / 4));
  const great = prepare(size);
  small();
  return cpuMs(great) / cpuMs(small);
}

/** Greater than any linear work reaches on a busy machine, less than the square. */
export const linear = 9;
