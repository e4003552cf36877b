import { productCatalog, type CommandDefinition } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import type { Caller } from './http/authenticate.ts';
import { etagOf } from './http/etag.ts';
import { listQuery, renderList } from './list-answer.ts';
import type { ProductCommand } from './management.ts';
import { defineRoute, type Answer, type Route, type Tools } from './route.ts';
import { isShown, views, type ShownType } from './views.ts';

/** One resource with its tag. While a production encodes, its progress changes without a version: no tag then. */
export async function resourceAnswer(status: number, resource: ResourceView, tools: Tools): Promise<Answer> {
  if (!isShown(resource.resource_type)) throw new Error(`${resource.resource_type} has no REST view`);
  const body = await views[resource.resource_type].render(resource, tools);
  return { status, body, etag: resource.lifecycle_state === 'encoding' ? undefined : etagOf(resource) };
}

/** Throws `permission_denied` unless one of the caller's roles may send the command. */
export const permitCommand =
  (type: ProductCommand) =>
  ({ roles }: Caller): void => {
    const definition: CommandDefinition = productCatalog.commands[type];
    if (!definition.roles.some((role) => roles.includes(role)))
      throw new Problem('permission_denied', "You don't have the permission to do this.");
  };

const camelCase = (text: string) => text.replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());

function named(command: ProductCommand) {
  const definition: CommandDefinition = productCatalog.commands[command];
  const type = definition.subject;
  if (!isShown(type)) throw new Error(`${type} has no REST view`);
  const { summary, changes } = definition;
  return {
    operation: camelCase(command),
    summary,
    changes,
    type,
    noun: productCatalog.resources[type].noun,
    answer: views[type],
  };
}

/** GET of one resource. */
export function read(path: string, type: ShownType): Route {
  const { noun } = productCatalog.resources[type];
  return defineRoute({
    method: 'GET',
    path,
    operation: `${noun}Get`,
    summary: `Reads one ${noun}.`,
    object: { type, from: 'path', field: 'id' },
    answer: views[type],
    run: ({ object }, tools) => resourceAnswer(200, object!, tools),
  });
}

/** GET of every visible resource of a type, or of those that link to the path's or the query's object. */
export function list(
  path: string,
  type: ShownType,
  parent?: { readonly type: ShownType; readonly link: string; readonly from: 'path' | 'query'; readonly field: string },
): Route {
  return defineRoute({
    method: 'GET',
    path,
    operation: `${productCatalog.resources[type].noun}List`,
    summary: `Lists ${type}${parent ? ` of one ${productCatalog.resources[parent.type].noun}` : ' visible to the credential'}.`,
    ...(parent && { object: parent }),
    query: parent?.from === 'query' ? listQuery.extend({ [parent.field]: z.string() }) : listQuery,
    answer: { ...views[type], list: true },
    run: async ({ caller, object, query, url }, tools) => {
      const links = parent ? { [parent.link]: object!.id } : {};
      const found = await tools.management.list(caller, type, links);
      const shown = await Promise.all(found.map((resource) => views[type].render(resource, tools)));
      return renderList(shown, query as z.output<typeof listQuery>, tools.baseUrl + url);
    },
  });
}

function without(schema: z.ZodObject, field: string): z.ZodObject {
  const { [field]: _left, ...shape } = schema.shape;
  return z.strictObject(shape);
}

/** POST that creates; below a parent, the parent's id comes from the path instead of the body. */
export function create(
  path: string,
  command: ProductCommand,
  parent?: { readonly type: ShownType; readonly attribute: string },
): Route {
  const { changes, type: _type, noun: _noun, ...names } = named(command);
  return defineRoute({
    method: 'POST',
    path,
    ...names,
    ...(parent && { object: { type: parent.type, from: 'path', field: 'id' } as const }),
    permit: permitCommand(command),
    body: parent ? without(changes, parent.attribute) : changes,
    status: 201,
    command: true,
    run: async ({ caller, id, body, idempotencyKey }, tools) => {
      const input = { type: command, changes: parent ? { ...body, [parent.attribute]: id } : body, idempotencyKey };
      const { resource } = await tools.management.execute(caller, input);
      return resourceAnswer(201, resource, tools);
    },
  });
}

/** PUT or POST that sends a command to the path's object. */
export function change(method: 'PUT' | 'POST', path: string, command: ProductCommand): Route {
  const { changes, type, noun: _noun, ...names } = named(command);
  return defineRoute({
    method,
    path,
    ...names,
    object: { type, from: 'path', field: 'id' },
    permit: permitCommand(command),
    body: changes,
    command: true,
    run: async ({ caller, id, body, ifMatch, idempotencyKey }, tools) => {
      const input = { type: command, subjectId: id, changes: body, ifMatch, idempotencyKey };
      const { resource } = await tools.management.execute(caller, input);
      return resourceAnswer(200, resource, tools);
    },
  });
}
