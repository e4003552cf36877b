import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { formsOf, formTypes } from '../../tools/derive-forms.mjs';
import { allowedCommands, isImmediate, makingCommand } from './allowed.ts';
import type { Schema, TypeForms } from './type-forms.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const json = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, string>;
const contract = json('contracts/commands.json');
const forms = (type: string) => formsOf(contract, type) as TypeForms;
const texts = json('apps/web/src/messages/ads/en.json');

test('a person is offered what the state and the roles allow, and nothing else', () => {
  const names = (state: string, roles: readonly string[]) =>
    allowedCommands(forms('line_items'), state, roles).map(({ type }) => type);
  expect(names('booked', ['publisher'])).toEqual(['line_item.pause']);
  expect(names('draft', ['analyst'])).toEqual([]);
  expect(names('delivering', ['sales'])).toContain('line_item.stop');
  expect(names('draft', ['sales'])).not.toContain('line_item.stop');
  expect(makingCommand(forms('line_items'), ['reviewer'])).toBeUndefined();
  expect(makingCommand(forms('serving_halts'), ['publisher'])?.type).toBe('serving.halt');
});

test('nothing that a session may not send has a form', () => {
  const all = formTypes.flatMap((type) => forms(type).commands.map((command) => command.type));
  expect(all).toContain('line_item.book');
  expect(
    all.filter((type) => /authority_grant\.propose|machine_key\.register|webhook_endpoint|workspace\.close/.test(type)),
  ).toEqual([]);
});

test('what ends something for ever is not sent by its button alone', () => {
  const advertisers = forms('advertisers');
  const find = (type: string) => advertisers.commands.find((command) => command.type === type)!;
  expect(isImmediate(find('advertiser.activate'), advertisers)).toBe(true);
  expect(isImmediate(find('advertiser.archive'), advertisers)).toBe(false);
});

/** Names of fields and of choices, wherever they stand in a schema. */
function* namesIn(schema: Schema): Generator<string> {
  for (const [name, of] of Object.entries(schema.properties ?? {})) {
    yield `field.${name}`;
    yield* namesIn(of);
  }
  for (const value of schema.enum ?? []) yield `enum.${value}`;
  if (typeof schema.const === 'string') yield `enum.${schema.const}`;
  for (const each of [schema.items, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) if (each) yield* namesIn(each);
}

test('every type, state, command, field and choice has a text', () => {
  const wanted = formTypes.flatMap((type) => {
    const { states, commands } = forms(type);
    const named = commands.flatMap((command) => [`do.${command.type.split('.')[1]}`, ...namesIn(command.schema)]);
    return [`types.${type}`, `noun.${type}`, ...states.map((state) => `lifecycle.${state}`), ...named];
  });
  expect([...new Set(wanted)].filter((key) => texts[key] === undefined)).toEqual([]);
});
