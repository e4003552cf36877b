import { typed } from '../command.ts';
import type { Command } from './catalog.ts';
import { exampleOf, fieldsIn } from './changes-from-flags.ts';
import { columns } from './table.ts';

const reviewNote: Readonly<Record<string, string>> = {
  single: 'Another person approves it first.',
  dual: 'Two other people approve it first.',
  policy: 'The review policy of the workspace says whether another person approves it first.',
  host: 'Whoever publishes the podcast approves it first.',
};

const stateNote = ({ from, to }: Command): string => {
  const target = to === null ? 'the state stays' : to.join(' or ');
  return from === null ? `creates its subject: ${target}` : `${from.join(', ')} → ${target}`;
};

/** The help of one command, from the schemas of the catalog. */
export function commandHelp(command: Command): string {
  const id = command.from === null ? '' : ' ID';
  const fields = fieldsIn(command.changes_schema).map(({ name, schema, isRequired }) => [
    `  --${name} ${exampleOf(schema)}`,
    [isRequired ? 'required' : 'optional', schema.description].filter(Boolean).join(': '),
  ]);
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
    fields.length > 0 ? `Fields:\n${columns(fields)}` : 'It takes no fields.',
  ].join('\n\n');
}
