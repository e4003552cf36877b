import { typed } from '../command.ts';
import type { Command } from './catalog.ts';
import { longListOf, optionExample, placeholderOf } from './field-text.ts';
import { fieldsIn, type Field } from './fields.ts';
import { problemText, type Refusal } from './management-api.ts';

/** The field that an error is about, by its JSON Pointer: `/changes/dimensions/0` is about `dimensions`. */
function fieldAt(fields: readonly Field[], pointer: string): Field | undefined {
  const [root, ...path] = pointer.split('/').slice(1);
  if (root !== 'changes') return undefined;
  const names = path.map((_, at) => path.slice(0, path.length - at).join('.'));
  return names.map((name) => fields.find((field) => field.name === name)).find((each) => each !== undefined);
}

/** Codes of errors of form, by the check of a schema; those of rules are about a value whose form is right. */
const formCodes: ReadonlySet<string> = new Set([
  ...['invalid_type', 'invalid_format', 'invalid_value', 'invalid_union', 'invalid_key', 'invalid_element'],
  ...['too_small', 'too_big', 'not_multiple_of', 'unknown_field', 'custom'],
]);

/** Values that a refusal lists; the help of the command lists them all. */
const maxShown = 30;

/** The form of a field, and an option that has it. */
function formOf({ name, schema }: Field): string {
  const values = longListOf(name, schema)?.values;
  const form = values && values.length <= maxShown ? values.join('|') : placeholderOf(name, schema);
  if (form === 'TEXT') return `  --${name} takes text, for example --${name} 'some words'`;
  return `  --${name} takes ${form}, for example ${optionExample(name, schema)}`;
}

/** A refusal of a command's fields with the options that mend it: the form of those that have a wrong one, an example, and the command's help. */
export function explainRefusal(refusal: Refusal, command: Command): Error {
  const { problem } = refusal;
  if (problem?.code !== 'validation_failed') return refusal;
  const { recovery_url: _catalog, ...shown } = problem;
  const fields = fieldsIn(command.changes_schema);
  const misformed = (problem.errors ?? []).filter(({ code }) => formCodes.has(code));
  const wrong = new Set(misformed.flatMap(({ path }) => fieldAt(fields, path) ?? []));
  return new Error(
    [problemText(shown), ...[...wrong].map(formOf), `  See: ${typed} manage run ${command.command_type} --help`].join(
      '\n',
    ),
    { cause: refusal },
  );
}
