import { describe, expect, test } from '@jest/globals';
import { idPrefixes, isId, newId } from '@longwave/ids';
import { roles } from '@longwave/principal';
import { problems } from '@longwave/problems';
import { z } from 'zod';
import {
  identityCatalog,
  operations,
  productCatalog,
  type Catalog,
  type CommandDefinition,
  type ResourceDefinition,
} from './index.ts';

/** The part of JSON Schema (2020-12) that zod derives and these tests read. */
interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

const derive = (schema: z.ZodType, io: 'input' | 'output' = 'input') => z.toJSONSchema(schema, { io }) as JsonSchema;

/** Every object schema inside a schema, with its path. */
function objectsIn(schema: JsonSchema, path = ''): { readonly path: string; readonly schema: JsonSchema }[] {
  return [
    ...(schema.type === 'object' ? [{ path, schema }] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => objectsIn(inner, `${path}/${name}`)),
    ...(schema.items ? objectsIn(schema.items, `${path}/*`) : []),
    ...(schema.anyOf ?? []).flatMap((inner) => objectsIn(inner, path)),
  ];
}
const openObjectsIn = (schema: z.ZodType) =>
  objectsIn(derive(schema)).flatMap((found) => (found.schema.additionalProperties === false ? [] : [found.path]));

const catalogs: readonly (readonly [string, Catalog])[] = [
  ['product', productCatalog],
  ['identity', identityCatalog],
];
const resources = catalogs.flatMap(([, { resources }]) => Object.values(resources));
const commands = catalogs.flatMap(([, { commands }]) => Object.values(commands));
const toStates = ({ to }: CommandDefinition) => (to === null ? [] : typeof to === 'string' ? [to] : to);
const duplicates = (values: readonly string[]) => values.filter((value, i) => values.indexOf(value) !== i);

test('an id prefix has the form that ids have', () => {
  expect(resources.filter(({ prefix }) => !isId(newId(prefix), prefix)).map(({ type }) => type)).toEqual([]);
});

test('no type, noun, id prefix, command or event is used twice', () => {
  expect(duplicates(resources.map(({ type }) => type))).toEqual([]);
  expect(duplicates(resources.map(({ noun }) => noun))).toEqual([]);
  expect(duplicates([...resources.map(({ prefix }) => prefix), ...Object.values(idPrefixes)])).toEqual([]);
  expect(duplicates(commands.map(({ type }) => type))).toEqual([]);
  expect(duplicates(commands.map(({ event }) => event))).toEqual([]);
});

test('only deletions of audio, and cancelling an operation, change something besides their subject', () => {
  const causing = commands.filter(({ consequences }) => consequences).map(({ type }) => type);
  expect(causing.sort()).toEqual(['media_clip.delete', 'operation.cancel', 'production.delete']);
});

test('exactly these commands need a second person, so that no change of that list passes unseen', () => {
  const reviewed = commands.filter(({ review }) => review === 'single' || review === 'dual').map(({ type }) => type);
  expect(reviewed.sort()).toEqual([
    'advertiser.activate',
    'advertiser.reinstate',
    'authority_grant.propose',
    'billing_statement.issue',
    'billing_statement.settle',
    'billing_statement.uphold',
    'billing_statement.void',
    'campaign.cancel',
    'creative.reinstate',
    'demand_source.validate',
    'line_item.stop',
    'listener_data.erase',
    'machine_key.register',
    'makegood.accept',
    'makegood.decline',
    'policy.retire',
    'policy.submit',
    'product.publish',
    'rate_card.publish',
    'reconciliation.close',
    'reconciliation.decide_item',
    'serving.release',
    'tracking_endpoint.validate',
    'workspace.close',
    'workspace.configure',
    'workspace.resume',
    'workspace.suspend',
  ]);
});

test('a command that needs a second person has roles that may approve it', () => {
  const reviewers = productCatalog.commands['review.approve'].roles;
  for (const command of commands) {
    const isReviewed = command.review === 'single' || command.review === 'dual';
    expect([command.type, (command.reviewers ?? []).length > 0]).toEqual([command.type, isReviewed]);
    expect(reviewers).toEqual(expect.arrayContaining([...(command.reviewers ?? [])]));
  }
});

test('who may send a command on a type, or decides about one, is among the readers of the type, which belongs to no podcast', () => {
  for (const { type, readers, links } of resources) {
    if (!readers) continue;
    const senders = commands.flatMap((command) =>
      command.subject === type ? [...command.roles, ...(command.reviewers ?? [])] : [],
    );
    expect([type, senders.filter((role) => !readers.includes(role))]).toEqual([type, []]);
    expect(Object.values(links).map((link) => link.type)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(podcasts|episodes)$/)]),
    );
  }
});

describe.each(catalogs)('the %s catalog', (_, catalog) => {
  const ofResource = Object.entries<ResourceDefinition>(catalog.resources);
  const ofCommand = Object.entries<CommandDefinition>(catalog.commands);
  const subjectOf = ({ subject }: CommandDefinition): ResourceDefinition =>
    subject === operations.type ? operations : catalog.resources[subject]!;

  test.each(ofResource)('%s stands under its own type', (key, resource) => {
    expect(resource.type).toBe(key);
  });

  test.each(ofResource)('%s ends only in states it has, and no command leaves an end', (type, resource) => {
    const leaving = ofCommand
      .filter(([, { subject }]) => subject === type)
      .filter(([, { from }]) => from?.some((state) => resource.terminalStates.includes(state)))
      .map(([command]) => command);
    expect(duplicates(resource.states)).toEqual([]);
    expect(resource.states).toEqual(expect.arrayContaining([...resource.terminalStates]));
    expect(leaving).toEqual([]);
  });

  test.each(ofResource)('every link of %s reads an attribute that holds ids of an existing type', (_type, resource) => {
    const { properties = {} } = derive(resource.attributes);
    for (const { attribute, type } of Object.values(resource.links))
      expect(properties[attribute]?.pattern).toMatch(
        new RegExp(`^\\^${catalog.resources[type]?.prefix ?? `no resource type ${type}`}_`),
      );
  });

  test.each(ofResource)('every unique attribute of %s exists and is never absent', (_type, resource) => {
    expect(derive(resource.attributes).required ?? []).toEqual(expect.arrayContaining([...resource.uniqueAttributes]));
  });

  test.each(ofResource)(
    'the attributes of %s are closed at every depth, and JSON Schema says so',
    (_type, resource) => {
      expect(openObjectsIn(resource.attributes)).toEqual([]);
    },
  );

  test.each(ofCommand)('%s and its event are called after its subject', (key, command) => {
    const { noun, commandNoun = noun } = subjectOf(command);
    // `report.run` creates a report run; what happens to it later is named after the run.
    const before = ['report_runs', 'listener_erasures'].includes(subjectOf(command).type)
      ? `(${commandNoun}|${noun})`
      : commandNoun;
    expect(command.type).toBe(key);
    expect(command.type).toMatch(new RegExp(`^${before}\\.[a-z]+(_[a-z]+)*$`));
    expect(command.event).toMatch(
      new RegExp(`^${before}\\.([a-z]+_)*[a-z]*(ed|set|withdrawn|rolled_back)(_without_[a-z]+)?$`),
    );
  });

  test('what a command changes besides its subject are other resources, told by events that are named after them', () => {
    for (const [, { subject, consequences = [] }] of ofCommand) {
      const others = ofResource
        .filter(([type]) => type !== subject)
        .flatMap(([, { noun, commandNoun = noun }]) => [commandNoun, noun]);
      for (const event of consequences) expect(others).toContain(event.split('.')[0]);
    }
  });

  test.each(ofCommand)('%s starts from and leads to states its subject has', (_type, command) => {
    expect(subjectOf(command).states).toEqual(expect.arrayContaining([...(command.from ?? []), ...toStates(command)]));
    expect(command.from).not.toEqual([]);
  });

  test.each(ofCommand)(
    '%s starts from nothing exactly when it makes its subject, which then has a state',
    (_type, command) => {
      if (command.type.endsWith('.create')) expect(command.from).toBeNull();
      if (command.from === null) expect(toStates(command)).not.toEqual([]);
      else expect(command.type).not.toMatch(/\.create$/);
    },
  );

  test.each(ofCommand)('%s leaves a choice of states only to a rule', (_type, command) => {
    if (Array.isArray(command.to)) expect(command.hasRule).toBe(true);
  });

  test.each(ofCommand)('someone who exists may send %s', (_type, command) => {
    expect([...command.roles, ...command.machines, ...(command.party ? [command.party] : [])]).not.toEqual([]);
    expect(roles).toEqual(expect.arrayContaining([...command.roles]));
  });

  test.each(ofCommand)('%s refuses an unknown field at every depth, and JSON Schema says so', (_type, command) => {
    const { error } = command.changes.safeParse({ no_such_field: 1 });
    expect(error?.issues).toContainEqual(
      expect.objectContaining({ code: 'unrecognized_keys', keys: ['no_such_field'], path: [] }),
    );
    expect(openObjectsIn(command.changes)).toEqual([]);
    if (command.reason) expect(openObjectsIn(command.reason)).toEqual([]);
  });

  test.each(ofCommand)('%s raises only problems of the table', (_type, command) => {
    expect(Object.keys(problems)).toEqual(expect.arrayContaining([...command.problems]));
  });

  test.each(ofCommand.filter(([, { hasRule }]) => !hasRule))(
    '%s has no rule, so its changes are attributes with the same schemas, and enough of them when it creates',
    (_type, command) => {
      const attributes = derive(subjectOf(command).attributes);
      const changes = derive(command.changes, 'output');
      // The pipeline keeps the cause of a state. A description or a default may differ; a looser schema would be stored, or end in 500.
      const { cause, ...fields } = changes.properties ?? {};
      const kept = { ...fields, ...(cause && { state_reason: cause }) };
      const accepted = ({ description: _text, default: _value, ...schema }: JsonSchema = {}) => schema;
      for (const [name, field] of Object.entries(kept))
        expect([name, accepted(field)]).toEqual([name, accepted(attributes.properties?.[name])]);
      if (command.from === null)
        expect(changes.required ?? []).toEqual(expect.arrayContaining([...(attributes.required ?? [])]));
    },
  );

  test('what ends the work of a cancellable command reports it as cancelled and needs no changes but a cause', () => {
    for (const [type, { endedBy, mode }] of ofCommand) {
      if (endedBy === undefined) continue;
      expect([type, mode]).toEqual([type, 'async']);
      const { settles, settlesOf = [type], changes, event } = catalog.commands[endedBy]!;
      expect([type, settles, settlesOf.includes(type)]).toEqual([type, 'cancelled', true]);
      expect(changes.safeParse('cause' in changes.shape ? { cause: 'No longer needed.' } : {}).success).toBe(true);
      expect(productCatalog.commands['operation.cancel'].consequences).toContain(event);
    }
  });
});
