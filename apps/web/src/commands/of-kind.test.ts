import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { formsOf } from '../../tools/derive-forms.mjs';
import { check } from './check.ts';
import { changesOf } from './form-value.ts';
import { ofKind } from './of-kind.ts';
import type { CommandForm } from './type-forms.ts';

const contract: unknown = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../../../contracts/commands.json'), 'utf8'),
);
const commands = formsOf(contract, 'policies').commands as readonly CommandForm[];
const schemaOf = (type: string) => commands.find((command) => command.type === type)!.schema;
const create = schemaOf('policy.create');
const kinds = create.properties!['kind']!.enum!;

test('every kind of policy has the fields of its own rules, and of no others', () => {
  const fields = kinds.map((kind) => Object.keys(ofKind(create, kind).properties!['rules']!.properties ?? {}));
  expect(fields.filter((names) => names.length === 0)).toEqual([]);
  expect(new Set(fields.flat()).size).toBe(fields.flat().length);
  expect(ofKind(create, 'ad_load').properties!['rules']!.properties).toHaveProperty('max_ads_per_play');
});

test('before a kind is chosen no rules are asked for, and the kind is', () => {
  const schema = ofKind(create, undefined);
  expect(schema.properties).not.toHaveProperty('rules');
  expect(check(schema, changesOf(schema, { name: 'Three ads' }, undefined)).map(({ path: at }) => at)).toContain(
    '/kind',
  );
});

test('what is typed for one kind is not sent with another, and what is sent is what the catalog takes', () => {
  const scope = { kind: 'workspace' };
  const draft = { name: 'Three ads', kind: 'ad_load', scope, rules: { caps: [{ max: 2 }], max_ads_per_play: 3 } };
  const schema = ofKind(create, 'ad_load');
  const changes = changesOf(schema, draft, undefined);
  expect(changes).toEqual({ ...draft, rules: { max_ads_per_play: 3 } });
  expect(check(schema, changes)).toEqual([]);
  expect(productCatalog.commands['policy.create'].changes.safeParse(changes).success).toBe(true);
  const blocked = { rules: { explicit_episodes: 'blocked' } };
  expect(check(ofKind(schemaOf('policy.revise'), 'brand_safety'), blocked)).toEqual([]);
});

test('a schema without such rules stays as it is', () => {
  const retire = schemaOf('policy.retire');
  expect(ofKind(retire, 'ad_load')).toBe(retire);
});
