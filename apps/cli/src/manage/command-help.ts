import { typed } from '../command.ts';
import type { Command, JsonSchema } from './catalog.ts';
import { exampleOf, longListOf, objectForm, optionExample, placeholderOf } from './field-text.ts';
import { alternativesOf, fieldsIn, objectsIn, type Field } from './fields.ts';
import { describedLines, wrapped } from './table.ts';

const reviewNote: Readonly<Record<string, string>> = {
  single: 'Another person approves it first, if there is one who may.',
  dual: 'Two other people approve it first, as far as there are any who may.',
  policy: 'The review policy of the workspace says whether another person approves it first.',
  host: 'Whoever publishes the podcast approves it first.',
};

const stateNote = ({ from, to }: Command): string => {
  const target = to === null ? 'the state stays' : to.join(' or ');
  return from === null ? `creates its subject: ${target}` : `${from.join(', ')} → ${target}`;
};

/** How an object, or each object of a list, is written. */
function jsonNote(schema: JsonSchema): string[] {
  const elements = objectsIn(schema.items ?? {});
  if (elements.length > 0) return [`each as JSON, ${elements.map(objectForm).join(' or ')}`];
  const needsFields = objectsIn(schema).some(({ required = [] }) => required.length > 0);
  return needsFields ? [`as JSON, ${JSON.stringify(exampleOf(schema))}`] : [];
}

function noteOf({ schema, isRequired, condition }: Field): string {
  const need = [isRequired ? 'required' : 'optional', condition].filter((each) => each !== undefined).join(', ');
  return [need, schema.description, ...jsonNote(schema)].filter((each) => each !== undefined).join(': ');
}

/** The values of fields that have many, once under each word. */
function longLists(fields: readonly Field[]): string[] {
  const lists = fields.flatMap(({ name, schema }) => longListOf(name, schema) ?? []);
  const byWord = new Map(lists.map(({ word, values }) => [`${word} ${values.join()}`, { word, values }]));
  return [...byWord.values()].map(({ word, values }) => `${word} is one of:\n${wrapped(values.join(', '), '  ')}`);
}

/** A command line with what the command cannot do without; of several ways to satisfy it, the first. */
function exampleLine({ command_type: type, from, changes_schema: schema }: Command, fields: readonly Field[]): string {
  const [way] = alternativesOf(schema);
  const needed = fields.filter(
    ({ name, isRequired }) => (isRequired || way?.required?.includes(name) === true) && !name.includes('.'),
  );
  const options = needed.map(({ name, schema }) => optionExample(name, schema));
  return [`  ${typed} manage run ${type}`, ...(from === null ? [] : ['ID']), ...options].join(' ');
}

/** The help of one command, from the schemas of the catalog. */
export function commandHelp(command: Command): string {
  const id = command.from === null ? '' : ' ID';
  const fields = fieldsIn(command.changes_schema);
  const options = fields.map(
    (field) => [`--${field.name} ${placeholderOf(field.name, field.schema)}`, noteOf(field)] as const,
  );
  const facts = [
    `States: ${stateNote(command)}`,
    `Roles: ${command.roles.join(', ')}`,
    ...(command.mode === 'async' ? ['The work goes on after the answer: --wait, or “manage watch”.'] : []),
    ...(reviewNote[command.review] ? [reviewNote[command.review]!] : []),
    ...(command.external_effect === null ? [] : [`Effect outside: ${command.external_effect}`]),
  ];
  return [
    `usage: ${typed} manage run ${command.command_type}${id} [--FIELD VALUE …] [--json FILE] [--reason TEXT] [--wait] [--print FIELD]`,
    command.summary,
    facts.join('\n'),
    fields.length > 0
      ? `Fields; an object {…} is one option, or the options of its fields:\n${describedLines(options)}`
      : 'It takes no fields.',
    ...longLists(fields),
    ...(fields.length > 0 ? [`Example:\n${exampleLine(command, fields)}`] : []),
  ].join('\n\n');
}
