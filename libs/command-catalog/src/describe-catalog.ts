import { z } from 'zod';
import type { Catalog } from './catalog.ts';
import type { CommandDefinition, ResourceDefinition } from './definition.ts';
import { needsReason, reasonSchemaOf } from './reason.ts';
import { sortKeysOf } from './sort-keys.ts';

/** The first version of the Management API. */
const firstVersion = '1.0.0';

/** JSON Schema 2020-12, without the name of the dialect. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function describeType(definition: ResourceDefinition) {
  const { type, noun, prefix, states, terminalStates, attributes, links, uniqueAttributes, readers } = definition;
  return {
    resource_type: type,
    noun,
    prefix,
    states,
    terminal_states: terminalStates,
    attributes_schema: schemaOf(attributes, 'output'),
    links: Object.fromEntries(Object.entries(links).map(([name, link]) => [name, { ...link }])),
    unique_attributes: uniqueAttributes,
    sort_keys: Object.fromEntries(
      Object.entries(sortKeysOf(definition)).map(([name, { stable }]) => [name, { stable }]),
    ),
    ...(readers && { readers }),
    since: definition.since ?? firstVersion,
    ...(definition.deprecated && { deprecated: definition.deprecated }),
  };
}

function describeCommand(definition: CommandDefinition) {
  const { type, subject, from, to, changes, mode, review, reviewers = [], roles, party } = definition;
  const { versionGuard, problems, event, consequences = [], externalEffect, summary, discloses } = definition;
  return {
    command_type: type,
    subject_type: subject,
    summary,
    from,
    to: typeof to === 'string' ? [to] : to,
    changes_schema: schemaOf(changes, 'input'),
    reason_schema: schemaOf(reasonSchemaOf(definition), 'input'),
    reason_required: needsReason(definition),
    mode,
    review,
    reviewers,
    roles,
    ...(party && { party }),
    cancellable: definition.endedBy !== undefined,
    version_guard: versionGuard,
    problems,
    event,
    consequences,
    external_effect: externalEffect,
    ...(discloses && { disclosed_schema: schemaOf(discloses, 'output') }),
    since: definition.since ?? firstVersion,
    ...(definition.deprecated && { deprecated: definition.deprecated }),
  };
}

/** Whether a person may send a command, by a role or as its party; the others are reports of services. */
export const isForPeople = ({ roles, party }: Pick<CommandDefinition, 'roles' | 'party'>): boolean =>
  roles.length > 0 || party !== undefined;

/** The types of a catalog and the commands that people may send, as data, in the order of the catalog. */
export function describeCatalog({ resources, commands }: Catalog) {
  return {
    resource_types: Object.values(resources).map(describeType),
    commands: Object.values(commands).filter(isForPeople).map(describeCommand),
  };
}
