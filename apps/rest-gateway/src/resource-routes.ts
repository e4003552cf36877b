import {
  productCatalog,
  typedResource,
  type ChangesInput,
  type CommandDefinition,
  type ResourceDefinition,
  type SubjectOf,
  type ProductCommand,
} from '@longwave/command-catalog';
import { operationConsequenceSchema, type ResourceView } from '@longwave/events';
import {
  hiddenStates,
  isShown,
  isTerminal,
  notFoundProblem,
  requireCommand,
  requireRoles,
  showResources,
  views,
  type Executed,
  type ShownType,
} from '@longwave/hosting-client';
import type { Role } from '@longwave/principal';
import { isProblem, Problem, problems } from '@longwave/problems';
import { z } from 'zod';
import { etagOf } from './http/etag.ts';
import { chosenItems, listQuery, renderList, type ChosenByType } from './list-answer.ts';
import { defineRoute, type AnswerShape, type Call, type Route, type Deps, type SubjectCall } from './route.ts';

type CallerOf = Pick<Call, 'caller'>;

/** `requireRoles` for a route's object, before the body is parsed (docs/ARCHITECTURE.md, the order of checks). */
export const permitRoles =
  (allowed: readonly Role[]) =>
  ({ caller, access }: Pick<Call, 'caller' | 'access'>): void =>
    requireRoles(caller, access, allowed);

/** Throws `permission_denied` unless one of the caller's roles, for the route's object, may send the command. */
export const permitCommand =
  (type: ProductCommand) =>
  ({ caller, access }: Pick<Call, 'caller' | 'access'>): void =>
    requireCommand(caller, access, type);

interface Shown {
  readonly body: Record<string, unknown>;
  readonly etag: string | undefined;
}

/** A resource with its tag. A production that is being encoded has no tag: its progress changes without a version. */
async function showOne(resource: ResourceView, { caller }: CallerOf, deps: Deps): Promise<Shown> {
  const { resource_type: type, lifecycle_state: state } = resource;
  if (!isShown(type)) throw new Error(`${type} has no view`);
  const [shown] = await showResources(type, [typedResource(resource, type)], { caller, deps });
  const { body, fields } = shown!;
  return { body, etag: state === 'encoding' ? undefined : etagOf(resource, fields) };
}

/** A resource as REST shows its type. */
export const showResource = async (resource: ResourceView, call: CallerOf, deps: Deps) =>
  (await showOne(resource, call, deps)).body;

/** One resource with its tag. */
export const resourceAnswer = async (status: number, resource: ResourceView, call: CallerOf, deps: Deps) => ({
  status,
  ...(await showOne(resource, call, deps)),
});

/** A route whose command is asynchronous, and one that creates. */
export const accepting = {
  status: 202,
  headers: { Location: 'Address of the operation. Read it until the operation has ended.' },
} as const;
export const creating = { status: 201, headers: { Location: 'Address of the new resource.' } } as const;

/** The answer to an accepted asynchronous command: its subject now, and where its operation is read. */
export async function acceptedAnswer({ resource, operationId }: Executed, call: CallerOf, deps: Deps) {
  const answer = await resourceAnswer(202, resource, call, deps);
  return { ...answer, headers: { Location: `${deps.baseUrl}/api/v1/operations/${operationId}` } };
}

/** The answer to a command that created a resource with an address of its own. */
export async function createdAnswer({ resource }: Executed, call: CallerOf, deps: Deps) {
  const answer = await resourceAnswer(201, resource, call, deps);
  return { ...answer, headers: { Location: `${deps.baseUrl}/api/v1/${resource.resource_type}/${resource.id}` } };
}

const camelCase = (text: string) => text.replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The fields that a route of one command takes from the catalog. */
export function commandRoute(type: ProductCommand) {
  const { summary, problems: codes }: CommandDefinition = productCatalog.commands[type];
  return {
    operation: camelCase(type),
    summary,
    permit: permitCommand(type),
    command: true,
    refusals: codes.map((code) => problems[code].status),
    // Such a command calls the encoder or another host before it is decided.
    deadlineMs: codes.includes('temporarily_unavailable') ? 25_000 : 15_000,
  };
}

function shownSubject(type: ProductCommand): ShownType {
  const { subject }: CommandDefinition = productCatalog.commands[type];
  if (!isShown(subject)) throw new Error(`${subject} has no view`);
  return subject;
}

/** An answer that is one version of a resource. */
export const versionOf = (type: ShownType): AnswerShape => ({ ...views[type], versioned: true });

/** GET of one resource. */
export function read(path: string, type: ShownType): Route {
  const { noun } = productCatalog.resources[type];
  return defineRoute({
    method: 'GET',
    path,
    operation: camelCase(`${noun}.get`),
    summary: `Reads one ${noun.replaceAll('_', ' ')}.`,
    object: { type, from: 'path', field: 'id' },
    answer: versionOf(type),
    tagged: true,
    run: (call, deps) => resourceAnswer(200, call.object, call, deps),
  });
}

/** GET of every visible resource of a type, or of those that link to the path's or the query's object. */
export function list(
  path: string,
  type: ShownType,
  parent?: { readonly type: ShownType; readonly link: string; readonly from: 'path' | 'query'; readonly field: string },
): Route {
  const { noun } = productCatalog.resources[type];
  const of = parent
    ? `of one ${productCatalog.resources[parent.type].noun}`
    : 'that the credential can see: its own, those that it edits as a collaborator, and those of organizations that it is a member of';
  const { states, attributes }: ResourceDefinition = productCatalog.resources[type];
  const shownStates = states.filter((state) => !hiddenStates.has(state));
  const chosen = listQuery.extend({
    state: z.array(z.enum(shownStates)).optional().meta({ description: 'Only items in one of these states.' }),
    ...('title' in attributes.shape && {
      q: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .meta({ description: 'Only items whose title contains this text, in upper or lower case.' }),
    }),
  });
  return defineRoute({
    method: 'GET',
    path,
    operation: camelCase(`${noun}.list`),
    summary: `Lists ${type.replaceAll('_', ' ')} ${of}.`,
    ...(parent && { object: parent }),
    query: parent?.from === 'query' ? chosen.extend({ [parent.field]: z.string() }) : chosen,
    answer: { ...views[type], list: true },
    run: async (call, deps) => {
      const { caller, object, access, query, url } = call;
      const under = parent && object && { links: { [parent.link]: object.id }, workspaceId: access?.workspaceId };
      const found = deps.management.pages(caller, type, {
        ...under,
        ...chosenItems(query as z.output<typeof listQuery> & ChosenByType),
      });
      return renderList(
        found,
        async (resources) => (await showResources(type, resources, { caller, deps })).map(({ body }) => body),
        query,
        new URL(url, deps.baseUrl).href,
      );
    },
  });
}

function without(schema: z.ZodObject, field: string): z.ZodObject {
  const { [field]: _left, ...shape } = schema.shape;
  return z.strictObject(shape);
}

/** The input of a route whose schema is that of a command's changes, as the changes of this command. */
export const changesFrom = <C extends ProductCommand>(_command: C, input: object) => input as ChangesInput<C>;

/** POST that creates; below a parent, the parent's id comes from the path instead of the body. */
export function create(
  path: string,
  command: ProductCommand,
  parent?: { readonly type: ShownType; readonly attribute: string },
): Route {
  const { changes, mode }: CommandDefinition = productCatalog.commands[command];
  const isAsync = mode === 'async';
  return defineRoute({
    method: 'POST',
    path,
    ...commandRoute(command),
    ...(isAsync ? accepting : creating),
    answer: versionOf(shownSubject(command)),
    ...(parent && { object: { type: parent.type, from: 'path', field: 'id' } as const }),
    body: parent ? without(changes, parent.attribute) : changes,
    run: async (call, deps) => {
      const { caller, access, id, body, idempotencyKey } = call;
      const executed = await deps.management.execute(caller, {
        type: command,
        workspaceId: access?.workspaceId,
        changes: changesFrom(command, parent ? { ...body, [parent.attribute]: id } : body),
        idempotencyKey,
      });
      return isAsync ? acceptedAnswer(executed, call, deps) : createdAnswer(executed, call, deps);
    },
  });
}

/** PUT or POST that sends a command to the path's object: 200, or 202 when the command is asynchronous. */
export function change(method: 'PUT' | 'POST', path: string, command: ProductCommand): Route {
  const { changes, mode }: CommandDefinition = productCatalog.commands[command];
  const type = shownSubject(command);
  return defineRoute({
    method,
    path,
    ...commandRoute(command),
    ...(mode === 'async' && accepting),
    object: { type, from: 'path', field: 'id' },
    guarded: true,
    answer: versionOf(type),
    body: changes,
    run: async (call, deps) => {
      const executed = await sendToObject(call, deps, command, changesFrom(command, call.body));
      return mode === 'async'
        ? acceptedAnswer(executed, call, deps)
        : resourceAnswer(200, executed.resource, call, deps);
    },
  });
}

/** The parts of a guarded route's request that go with a command to its object. */
export type SubjectWrite = Pick<SubjectCall, 'caller' | 'id' | 'ifMatch' | 'idempotencyKey' | 'getObject'>;

/**
 * Sends a command to the route's object, with the request's key and version guard. Management decides whether the caller sees the object
 * and may change it. Its refusal comes after REST's own 404 and 403, and so does the first answer to a used key.
 */
export async function sendToObject<C extends ProductCommand>(
  { caller, id, ifMatch, idempotencyKey, getObject }: SubjectWrite,
  deps: Deps,
  command: C,
  changes: ChangesInput<C>,
): Promise<Executed<SubjectOf<C>>> {
  const input = { type: command, subjectId: id, changes, ifMatch, idempotencyKey };
  const executed = await deps.management.execute(caller, input).catch(async (error: unknown) => {
    const isRefusal = error instanceof Problem && error.status < 500;
    if (!isRefusal || isProblem(error, 'not_found')) throw error;
    const { object } = await getObject();
    // A subject that is gone answers 404, except to a retry of the very command that ended it.
    const isGone = isTerminal(object) && isProblem(error, 'state_not_allowed');
    throw isGone ? notFoundProblem(productCatalog.resources[object.resource_type].noun, id) : error;
  });
  if (executed.replayed) await getObject();
  return executed;
}

/** Its `type` is the noun of the resource: "episode" or "media_clip". */
const consequence = operationConsequenceSchema.omit({ version: true }).strict();

/** The answer to a deletion that changed other resources. */
const deletion = {
  status: 200,
  when: 'Done, and something else has changed with it: see `consequences`.',
  answer: {
    name: 'Deletion',
    schema: z.strictObject({ id: z.string(), state: z.literal('deleted'), consequences: z.array(consequence).min(1) }),
  },
} as const;

function showConsequences({ resource: { id }, consequences }: Executed) {
  const types: Readonly<Record<string, ResourceDefinition | undefined>> = productCatalog.resources;
  const shown = consequences.map(({ type, version: _version, ...rest }) => ({
    type: types[type]?.noun ?? type,
    ...rest,
  }));
  return { status: deletion.status, body: { id, state: 'deleted', consequences: shown } };
}

/** DELETE of the path's object, or of a part of it: 204 without a body, or 200 that says what else changed. */
export function remove<Q extends z.ZodObject>(
  path: string,
  command: ProductCommand,
  /** Parameters that say which part goes; they are the command's changes. */
  query?: Q,
): Route {
  const { subject, to, consequences }: CommandDefinition = productCatalog.commands[command];
  const type = subject as ShownType;
  return defineRoute({
    method: 'DELETE',
    path,
    ...commandRoute(command),
    object: { type, from: 'path', field: 'id' },
    guarded: true,
    // A command that archives or deletes its subject leaves nothing to read.
    ends: to !== null,
    ...(query && { query }),
    status: 204,
    answer: 'empty',
    ...(consequences && { otherAnswer: deletion }),
    run: async (call, deps) => {
      const executed = await sendToObject(call, deps, command, changesFrom(command, call.query));
      return executed.consequences.length > 0 ? showConsequences(executed) : { status: 204 };
    },
  });
}
