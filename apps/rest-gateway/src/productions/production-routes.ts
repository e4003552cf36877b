import { productCatalog, type ChangesInput, type Resource } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { checkIfMatch, etagOf } from '../http/etag.ts';
import { commandRoute, createdAnswer, creating, resourceAnswer, showResource } from '../resource-routes.ts';
import { defineRoute, type Call, type Tools } from '../route.ts';
import { views } from '../views/views.ts';
import { attachedUrl, changesOf, productionPut, sentFiles } from './production-changes.ts';
import { productionEvents } from './production-events.ts';

const commands = productCatalog.commands;

/** One request about one production: who asks, where it lives, and the headers of the write. */
interface Write extends Pick<Call, 'caller' | 'ifMatch' | 'idempotencyKey'> {
  readonly workspaceId: string | undefined;
  readonly productionId: string;
}

const writeOf = ({ caller, access, id, ifMatch, idempotencyKey }: Call): Write => ({
  caller,
  workspaceId: access?.workspaceId,
  productionId: id,
  ifMatch,
  idempotencyKey,
});

type ProductionCommand = 'production.start' | 'production.stop' | 'production.revise';

async function send<C extends ProductionCommand>(
  write: Write,
  tools: Tools,
  type: C,
  changes: ChangesInput<C>,
): Promise<Resource<'productions'>> {
  const { caller, workspaceId, productionId: subjectId, ifMatch, idempotencyKey } = write;
  const input = { type, workspaceId, subjectId, changes, ifMatch, idempotencyKey };
  return (await tools.management.execute(caller, input)).resource;
}

/** The production when a write that was refused is already true of it: repeated writes share no key and must have one effect. */
async function orAlready(
  write: Write,
  tools: Tools,
  states: readonly string[],
  sent: Promise<Resource<'productions'>>,
): Promise<Resource<'productions'>> {
  try {
    return await sent;
  } catch (error) {
    const another = error instanceof Problem && ['state_not_allowed', 'idempotency_in_progress'].includes(error.code);
    if (!another) throw error;
    const { resource } = await tools.management.find(write.caller, 'productions', write.productionId);
    if (states.includes(resource.lifecycle_state)) return resource;
    throw error;
  }
}

/** Starts encoding. A production that already encodes is the answer, not a failure (design: decided.md, REST). */
const start = (write: Write, tools: Tools, changes: { readonly publish_episode?: boolean | undefined }) =>
  orAlready(write, tools, ['encoding'], send(write, tools, 'production.start', changes));

/** Stops encoding. A production that does not encode is the answer as well. */
const stop = (write: Write, tools: Tools) =>
  orAlready(write, tools, ['initial'], send(write, tools, 'production.stop', {}));

/** A start is asynchronous, but what it answers is the production: its own state tells. */
const startRoute = commandRoute('production.start');

/** POST /productions; `state: encoding` starts at once, or nothing is created. */
export const createProduction = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    ...commandRoute('production.create'),
    ...creating,
    summary: `${commands['production.create'].summary} With state "encoding" it starts at once; if it cannot start, nothing is created.`,
    object: { type: 'episodes', from: 'body', field: 'episode_id' },
    queryOrBody: true,
    body: commands['production.create'].changes.extend({ files: sentFiles.optional() }),
    answer: views.productions,
    run: async (call, tools) => {
      const { caller, access, idempotencyKey, body } = call;
      const { files, file_url: fileUrl = attachedUrl(files), ...others } = body;
      const created = await tools.management.execute(caller, {
        type: 'production.create',
        workspaceId: access?.workspaceId,
        changes: { ...others, ...(fileUrl !== undefined && { file_url: fileUrl }) },
        idempotencyKey,
      });
      return createdAnswer(created, call, tools);
    },
  });

/** POST /productions/{id}/start; `publish_episode` by query or body, the body wins. */
export const startProduction = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    ...startRoute,
    object: { type: 'productions', from: 'path', field: 'id' },
    guarded: true,
    queryOrBody: true,
    body: commands['production.start'].changes,
    answer: views.productions,
    run: async (call, tools) => {
      const production = await start(writeOf(call), tools, call.body);
      return resourceAnswer(200, production, call, tools);
    },
  });

/** POST /productions/{id}/stop. */
export const stopProduction = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    ...commandRoute('production.stop'),
    object: { type: 'productions', from: 'path', field: 'id' },
    guarded: true,
    queryOrBody: true,
    body: commands['production.stop'].changes,
    answer: views.productions,
    run: async (call, tools) => resourceAnswer(200, await stop(writeOf(call), tools), call, tools),
  });

/**
 * PUT /productions/{id}: `state` "encoding" starts, "initial" stops a running encoding or makes a failed production ready
 * again; the other fields are changed first, except while a running encoding has to be stopped before. What was read may be sent back:
 * a value that stays is no change.
 */
export const reviseProduction = (path: string) =>
  defineRoute({
    method: 'PUT',
    path,
    ...startRoute,
    operation: 'productionRevise',
    summary: `${commands['production.revise'].summary} State "encoding" starts it, "initial" stops it. A field with the same value is not changed.`,
    object: { type: 'productions', from: 'path', field: 'id' },
    guarded: true,
    queryOrBody: true,
    body: productionPut,
    answer: views.productions,
    run: async (call, tools) => {
      let current = call.object!;
      const { state, ...changes } = changesOf(call.body, current, await showResource(current, call, tools));
      const asked = writeOf(call);
      let write = asked;
      /** The version guard of the request holds for its first command; each later one follows the one before. */
      const step = async (production: Promise<Resource<'productions'>>) => {
        current = await production;
        write = { ...write, ifMatch: call.ifMatch && etagOf(current) };
      };
      const running = current.lifecycle_state === 'encoding';
      if (state === 'initial' && running) await step(stop(write, tools));
      const ready = state === 'initial' && !running;
      if (Object.keys(changes).length > 0 || ready)
        await step(send(write, tools, 'production.revise', { ...changes, ...(ready && { state }) }));
      if (state === 'encoding') await step(start(write, tools, {}));
      checkIfMatch(write === asked ? asked.ifMatch : undefined, current);
      return resourceAnswer(200, current, call, tools);
    },
  });

/** GET /productions/{id}/events. */
export const followProduction = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'productionEvents',
    summary: 'Server-sent events of one production: state changes and progress from 0 to 1.',
    object: { type: 'productions', from: 'path', field: 'id' },
    answer: 'events',
    run: async (call, tools) => ({ stream: productionEvents(call, tools) }),
  });
