import { parseAttributes, type Attributes } from './attributes.ts';
import type { SyntaxProblem } from './playlist.ts';
import { attributeProblems } from './tag-attributes.ts';

/** One line of a playlist that is neither empty nor a comment: a tag, or an address. */
export type PlaylistLine =
  | {
      readonly kind: 'tag';
      readonly number: number;
      readonly text: string;
      readonly tag: string;
      readonly value: string;
    }
  | { readonly kind: 'uri'; readonly number: number; readonly text: string };

/** The lines that mean something (RFC 8216 §4.1). */
export function readLines(text: string, tell: (line: number, message: string) => void): readonly PlaylistLine[] {
  const rows = text.split(/\r?\n/);
  if (text.startsWith('\uFEFF')) tell(1, 'The playlist begins with a byte order mark. Write UTF-8 without it.');
  if (rows[0]!.replace('\uFEFF', '').trimEnd() !== '#EXTM3U') tell(1, 'The first line must be #EXTM3U.');
  return rows.flatMap((row, index): PlaylistLine[] => {
    const [number, line] = [index + 1, row.trimEnd()];
    if (!line.startsWith('#')) return line === '' ? [] : [{ kind: 'uri', number, text: line }];
    if (!line.startsWith('#EXT') || index === 0) return [];
    const [, tag, value = ''] = /^#([^:]*)(?::(.*))?$/s.exec(line)!;
    return [{ kind: 'tag', number, text: line, tag: tag!, value }];
  });
}

/** Collects what the standard says against the lines of one playlist. */
export function collectProblems() {
  const problems: SyntaxProblem[] = [];
  const tell = (line: number, message: string): void => void problems.push({ line, message });
  return {
    problems,
    tell,
    /** The attributes of a tag; everything that is wrong in them is told. */
    attributesOf({ number, tag, value }: Extract<PlaylistLine, { kind: 'tag' }>): Attributes {
      const { attributes, problems: found } = parseAttributes(value);
      for (const problem of [...found, ...attributeProblems(tag, attributes)]) tell(number, `${problem}.`);
      return attributes;
    },
  };
}

export type ProblemCollector = ReturnType<typeof collectProblems>;
