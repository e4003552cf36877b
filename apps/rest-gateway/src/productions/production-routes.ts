import { productCatalog, type ChangesInput, type Resource } from '@longwave/command-catalog';
import { isProblem } from '@longwave/problems';
import { z } from 'zod';
import { checkIfMatch, etagOf } from '../http/etag.ts';
import {
  commandRoute,
  createdAnswer,
  creating,
  resourceAnswer,
  sendToObject,
  showResource,
  versionOf,
  type SubjectWrite,
} from '../resource-routes.ts';
import { defineRoute, type Deps } from '../route.ts';
import { attachedUrl, changesOf, productionPut, sentFiles } from './production-changes.ts';
import { productionEvents } from './production-events.ts';

const commands = productCatalog.commands;

type ProductionCommand = 'production.start' | 'production.stop' | 'production.revise';

async function send<C extends ProductionCommand>(
  write: SubjectWrite,
  deps: Deps,
  type: C,
  changes: ChangesInput<C>,
): Promise<Resource<'productions'>> {
  return (await sendToObject(write, deps, type, changes)).resource;
}

/** The production when a refused write finds it in the target state already: repeated writes share no key and must have one effect. */
async function orAlready(
  write: SubjectWrite,
  deps: Deps,
  states: readonly string[],
  sent: Promise<Resource<'productions'>>,
): Promise<Resource<'productions'>> {
  try {
    return await sent;
  } catch (error) {
    const another = isProblem(error, 'state_not_allowed', 'idempotency_in_progress');
    if (!another) throw error;
    const { resource } = await deps.management.find(write.caller, 'productions', write.id);
    if (states.includes(resource.lifecycle_state)) return resource;
    throw error;
  }
}

/** Starts encoding. A production that is already being encoded is a success, so that a repeated start has one effect. */
const start = (write: SubjectWrite, deps: Deps, changes: { readonly publish_episode?: boolean | undefined }) =>
  orAlready(write, deps, ['encoding'], send(write, deps, 'production.start', changes));

/** Stops encoding. A production that is not being encoded is a success as well. */
const stop = (write: SubjectWrite, deps: Deps) =>
  orAlready(write, deps, ['initial'], send(write, deps, 'production.stop', {}));

/** A start is asynchronous, but its answer is the production, whose state shows the progress. */
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
    answer: versionOf('productions'),
    run: async (call, deps) => {
      const { caller, access, idempotencyKey, body } = call;
      const { files, file_url: fileUrl = attachedUrl(files), ...others } = body;
      const created = await deps.management.execute(caller, {
        type: 'production.create',
        workspaceId: access?.workspaceId,
        changes: { ...others, ...(fileUrl !== undefined && { file_url: fileUrl }) },
        idempotencyKey,
      });
      return createdAnswer(created, call, deps);
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
    answer: versionOf('productions'),
    run: async (call, deps) => {
      const production = await start(call, deps, call.body);
      return resourceAnswer(200, production, call, deps);
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
    answer: versionOf('productions'),
    run: async (call, deps) => resourceAnswer(200, await stop(call, deps), call, deps),
  });

/**
 * PUT /productions/{id}: `state` "encoding" starts, "initial" stops a running encoding or makes a failed production ready
 * again; the other fields are changed first, except while a running encoding has to be stopped before. A client may send back
 * all that it read: an equal value is no change.
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
    answer: versionOf('productions'),
    run: async (call, deps) => {
      let { object: current } = await call.getObject();
      const { state, ...changes } = changesOf(call.body, current, await showResource(current, call, deps));
      let write: SubjectWrite = call;
      /** The version guard of the request holds for its first command; each later one follows the one before. */
      const step = async (production: Promise<Resource<'productions'>>) => {
        current = await production;
        write = { ...write, ifMatch: call.ifMatch && etagOf(current) };
      };
      const running = current.lifecycle_state === 'encoding';
      if (state === 'initial' && running) await step(stop(write, deps));
      const ready = state === 'initial' && !running;
      if (Object.keys(changes).length > 0 || ready)
        await step(send(write, deps, 'production.revise', { ...changes, ...(ready && { state }) }));
      if (state === 'encoding') await step(start(write, deps, {}));
      checkIfMatch(write === call ? call.ifMatch : undefined, current);
      return resourceAnswer(200, current, call, deps);
    },
  });

const waveform = z.strictObject({
  url: z
    .url()
    .describe(
      'Peaks of the sound as JSON of audiowaveform, version 2. GET it without a credential, before it expires.',
    ),
  expires_at: z.iso.datetime(),
  audio_url: z
    .url()
    .describe(
      'The encoded audio without ads, for those who may change the recording or set breaks; missing for others. Expires as well. It is no download.',
    )
    .optional(),
  silences: z
    .array(z.tuple([z.int().min(0), z.int().min(1)]))
    .describe('Beginning and end of each silence in milliseconds, in order.')
    .optional(),
});

/** GET /productions/{id}/waveform. */
export const readWaveform = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'productionWaveform',
    summary:
      'The addresses of the peaks and of the audio of an encoded production, and its silences. 404 while it has none.',
    object: { type: 'productions', from: 'path', field: 'id' },
    answer: { name: 'Waveform', schema: waveform },
    run: async ({ caller, object }, { management }) => {
      const { workspace_id: workspaceId, id: productionId, attributes } = object;
      const { url, audioUrl, expiresAtMs } = await management.signWaveform(caller, { workspaceId, productionId });
      const expires_at = new Date(Number(expiresAtMs)).toISOString();
      const { silences } = attributes;
      const audio = audioUrl !== undefined && { audio_url: audioUrl };
      const body = { url, expires_at, ...audio, ...(silences && { silences }) };
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body };
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
    run: async (call, deps) => ({ stream: productionEvents(call, deps) }),
  });
