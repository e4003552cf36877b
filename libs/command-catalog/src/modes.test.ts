import { describe, expect, test } from '@jest/globals';
import { identityCatalog, productCatalog, type CommandDefinition } from './index.ts';

const commands: readonly CommandDefinition[] = [productCatalog, identityCatalog].flatMap((catalog) =>
  Object.values(catalog.commands as Readonly<Record<string, CommandDefinition>>),
);
/** Work that only carries through what has been decided for good: it is tried again until it is done. */
const cannotFail = ['campaign.cancel', 'workspace.close'];

/** The commands that end an operation of a command, and how. */
const endsOf = ({ type, subject }: CommandDefinition) =>
  commands.filter(
    (one) => one.settles !== undefined && one.subject === subject && (one.settlesOf?.includes(type) ?? true),
  );

describe('the mode of a command is true', () => {
  const asynchronous = commands.filter(({ mode }) => mode === 'async');

  test.each(asynchronous.map((command) => [command.type, command] as const))(
    '%s is async, and a report of its worker ends it',
    (type, command) => {
      const reports = endsOf(command).filter(({ machines, roles }) => machines.length > 0 && roles.length === 0);
      const states = new Set(reports.map(({ settles }) => settles));
      expect([...states].sort()).toEqual(cannotFail.includes(type) ? ['succeeded'] : ['failed', 'succeeded']);
    },
  );

  test('nothing that is sync is ended by another command', () => {
    const ended = commands.flatMap(({ settlesOf = [] }) => settlesOf);
    const sync = commands.filter(({ mode }) => mode === 'sync').map(({ type }) => type);
    expect(ended.filter((type) => sync.includes(type))).toEqual([]);
  });
});
