/** What was found about one part of an installation. */
export interface Check {
  /** Heading under which it is shown: “services”. */
  readonly part: string;
  readonly name: string;
  /** False makes the program end with exit code 1. */
  readonly well: boolean;
  /** What is, in words: “ready”, “not ready: postgres”. */
  readonly says: string;
  /** What to do about it, in a sentence; where it is not well. */
  readonly advice?: string | undefined;
  /** The number behind `says`, for programs. */
  readonly value?: number | undefined;
  readonly unit?: 'bytes' | 'seconds' | 'messages' | 'jobs' | 'intents' | undefined;
}

/** Whether nothing is wrong. */
export const allWell = (checks: readonly Check[]): boolean => checks.every(({ well }) => well);

/** Checks as text: one line each, under the headings of their parts; what to do stands below what is wrong. */
export function renderChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return [...Map.groupBy(checks, ({ part }) => part)]
    .map(([part, found]) =>
      [
        part,
        ...found.flatMap(({ well, name, says, advice }) => [
          `  ${well ? '✓' : '✗'} ${name.padEnd(width)}  ${says}`,
          ...(advice === undefined ? [] : [`      ${advice}`]),
        ]),
      ].join('\n'),
    )
    .join('\n\n');
}

/** Checks as one JSON document, for programs. */
export const checksJson = (checks: readonly Check[], head: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ ...head, well: allWell(checks), checks }, null, 2);
