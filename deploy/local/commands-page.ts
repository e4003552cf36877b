/** The generated part of docs/commands.md: every resource type and every command, from the catalog. */
import {
  describeCatalog,
  isForPeople,
  operations,
  productCatalog,
  type CommandDefinition,
  type ResourceDefinition,
} from '@longwave/command-catalog';
import { z } from 'zod';
import { code, table } from './generated-part.ts';

const words = (names: readonly string[]) => names.map((name) => name.replaceAll('_', ' ')).join(', ');

/** The fields of a command's changes; optional ones end with a question mark. */
function changesOf({ changes }: CommandDefinition): string {
  const { properties = {}, required = [] } = z.toJSONSchema(changes, { io: 'input', unrepresentable: 'any' }) as {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  };
  const names = Object.keys(properties).map((name) => code(required.includes(name) ? name : `${name}?`));
  return names.length === 0 ? '–' : names.join(', ');
}

function transitionOf({ from, to }: CommandDefinition): string {
  const before = from === null ? '∅' : words(from);
  return to === null ? before : `${before} → ${words([to].flat())}`;
}

const commandRow = (command: CommandDefinition) => [
  code(command.type),
  transitionOf(command),
  changesOf(command),
  command.mode,
  command.review,
  words([...command.roles, ...(command.party ? [command.party] : [])]),
];

const reportRow = (command: CommandDefinition) => [
  code(command.type),
  transitionOf(command),
  changesOf(command),
  command.machines.join(', '),
];

const commandHead = ['command', 'from → to', 'changes', 'mode', 'review', 'sender'];

/** States of a type, those that nothing leaves in italics. */
const statesOf = ({ states, terminalStates }: ResourceDefinition) =>
  states.map((state) => (terminalStates.includes(state) ? `_${words([state])}_` : words([state]))).join(', ');

/** Sentences about the types that only some roles read. */
function readersOf(types: readonly ResourceDefinition[]): string {
  const byReaders = Map.groupBy(
    types.filter(({ readers }) => readers),
    ({ readers = [] }) => words(readers),
  );
  return [...byReaders]
    .map(([readers, of]) => `${of.map(({ type }) => code(type)).join(', ')} are read by these roles alone: ${readers}.`)
    .join('\n');
}

/** The tables, as Markdown that is not laid out yet. */
export function commandTables(): string {
  const { resource_types: described } = describeCatalog(productCatalog);
  const types: readonly ResourceDefinition[] = Object.values(productCatalog.resources);
  const commands: readonly CommandDefinition[] = Object.values(productCatalog.commands);
  const subjects: readonly ResourceDefinition[] = [...types, operations];
  const sortKeys = new Map(described.map((type) => [type.resource_type, type.sort_keys]));
  const sortCell = (type: string) =>
    Object.entries(sortKeys.get(type) ?? {})
      .map(([key, { stable }]) => (stable ? `**${key}**` : key))
      .join(', ');
  const sections = subjects.flatMap(({ type, noun }) => {
    const own = commands.filter((command) => command.subject === type && isForPeople(command));
    return own.length === 0
      ? []
      : [
          `### ${words([noun])}`,
          table(commandHead, own.map(commandRow)),
          ...own.map(({ type: name, summary }) => `- ${code(name)}: ${summary}`),
        ];
  });
  const reports = commands.filter((command) => !isForPeople(command));
  return [
    '## Resource types',
    'The initial state comes first; nothing leaves a state in italics. By a sort key in bold, paging skips and repeats nothing while others write.',
    table(
      ['type', 'prefix', 'states', 'sort keys'],
      types.map((type) => [code(type.type), code(type.prefix), statesOf(type), sortCell(type.type)]),
    ),
    readersOf(types),
    '## Commands that people may send',
    '∅: the command creates its subject. Without an arrow the state stays. Changes that end with a question mark are optional. A sender is a role, or `grantee`: the person whom the grant names.',
    ...sections,
    '## Reports of services',
    'Commands by which services report results, and by which management does what is due. Nobody else may send them.',
    table(['command', 'from → to', 'changes', 'sender'], reports.map(reportRow)),
  ]
    .join('\n\n')
    .replace(/(^- .*)\n\n(?=- )/gm, '$1\n');
}
