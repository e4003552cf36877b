import type { ApiProblem } from './problems.ts';

/** What a refusal says about the fields of a form, and what is about none of them. */
export interface SortedProblems<Name extends string> {
  /** The server's sentences, in English. */
  readonly fields: Readonly<Partial<Record<Name, string>>>;
  /** Whether the fields say it all: then nothing else has to be shown. */
  readonly isWhole: boolean;
}

/** Sentences that name no field although they are about one: `artwork_not_acceptable` and the checks of a podcast's picture. */
const pictureSentence = /^(The (image|artwork) |Upload the (image|artwork))/;

/** `title: Use small letters. “language” is required.` → its sentences. REST v1 names each wrong field in its one message. */
const sentencesOf = (message: string): readonly string[] =>
  message.split(/(?<=[.!?]) (?=[a-z_]+(?:\.[\w]+)*: |“[a-z_.\d]+” )/);

/** The field that a sentence begins with or quotes, without what is below it: `categories.0` is of `categories`. */
const namedIn = (sentence: string): string | undefined =>
  (/^([a-z_]+)(?:\.[\w]+)*: /.exec(sentence) ?? /^“([a-z_]+)(?:\.[\w]+)*” /.exec(sentence))?.[1];

/** A JSON pointer's first segment that is a field: `/changes/title`, `/attributes/categories/0`, `/title`. */
const fieldOfPointer = (pointer: string): string | undefined =>
  pointer.replace(/^\/(changes|attributes)\//, '/').split('/')[1];

/**
 * Sorts what a refused request says by the fields of a form: by the pointers of a problem document, else by the names in REST v1's message.
 * @param names fields of the form
 */
export function sortProblems<Name extends string>(
  { fields: listed, message }: Pick<ApiProblem, 'fields' | 'message'>,
  names: readonly Name[],
): SortedProblems<Name> {
  const isField = (name: string | undefined): name is Name => (names as readonly (string | undefined)[]).includes(name);
  const found: readonly (readonly [string | undefined, string])[] =
    listed.length > 0
      ? listed.map(({ path, message: sentence }) => [fieldOfPointer(path), sentence] as const)
      : sentencesOf(message).map(
          (sentence) =>
            [namedIn(sentence) ?? (pictureSentence.test(sentence) ? 'artwork_url' : undefined), sentence] as const,
        );
  const fields: Partial<Record<Name, string>> = {};
  for (const [name, sentence] of found)
    if (isField(name)) fields[name] = [fields[name], sentence.replace(/^[a-z_.\d]+: /, '')].filter(Boolean).join(' ');
  return { fields, isWhole: found.length > 0 && found.every(([name]) => isField(name)) };
}
