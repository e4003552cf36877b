import { productCatalog } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { withHeader } from '../http/rest-failure.ts';
import { permitCommand, resourceAnswer } from '../resource-routes.ts';
import { defineRoute, type Call, type Tools } from '../route.ts';
import { views } from '../views.ts';
import { productionEvents } from './production-events.ts';

const { 'production.create': createCommand, 'production.start': startCommand } = productCatalog.commands;

/**
 * Starts encoding. A production that already encodes is the answer, not a failure: repeated starts share no key and
 * must give one encoding (design: decided.md, REST).
 */
async function start(
  call: Pick<Call, 'caller' | 'ifMatch' | 'idempotencyKey'>,
  tools: Tools,
  productionId: string,
  changes: { readonly publish_episode?: boolean | undefined },
): Promise<ResourceView> {
  const { caller, ifMatch, idempotencyKey } = call;
  try {
    const input = { type: 'production.start', subjectId: productionId, changes, ifMatch, idempotencyKey } as const;
    return (await tools.management.execute(caller, input)).resource;
  } catch (error) {
    const another = error instanceof Problem && ['state_not_allowed', 'idempotency_in_progress'].includes(error.code);
    if (!another) throw error;
    const current = await tools.management.find(caller, 'productions', productionId);
    if (current.lifecycle_state === 'encoding') return current;
    throw error;
  }
}

/** A start waits for the probe of its file. */
const startDeadlineMs = 25_000;

/** POST /productions; `state: encoding` starts at once. A refused start names the production, which was created. */
export const createProduction = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'productionCreate',
    summary: `${createCommand.summary} With state "encoding" it starts at once.`,
    object: { type: 'episodes', from: 'body', field: 'episode_id' },
    permit: permitCommand('production.create'),
    body: createCommand.changes.extend({ state: z.enum(['initial', 'encoding']).optional() }),
    status: 201,
    answer: views.productions,
    command: true,
    refusals: [402, 409, 422, 500, 503],
    refusalHeaders: { Location: 'The production, when it was created but could not be started.' },
    deadlineMs: startDeadlineMs,
    run: async ({ body: { state, ...changes }, ...call }, tools) => {
      const { caller, idempotencyKey } = call;
      const created = await tools.management.execute(caller, { type: 'production.create', changes, idempotencyKey });
      if (state !== 'encoding') return resourceAnswer(201, created.resource, tools);
      const { id } = created.resource;
      try {
        const started = await start({ caller, idempotencyKey, ifMatch: undefined }, tools, id, {});
        return await resourceAnswer(201, started, tools);
      } catch (error) {
        throw withHeader(error, 'Location', `${tools.baseUrl}/api/v1${path}/${id}`);
      }
    },
  });

/** POST /productions/{id}/start; `publish_episode` by query or body, the body wins. */
export const startProduction = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'productionStart',
    summary: startCommand.summary,
    object: { type: 'productions', from: 'path', field: 'id' },
    permit: permitCommand('production.start'),
    query: z.strictObject({ publish_episode: z.boolean().optional() }),
    body: startCommand.changes,
    answer: views.productions,
    command: true,
    refusals: [402],
    deadlineMs: startDeadlineMs,
    run: async ({ query, body, ...call }, tools) =>
      resourceAnswer(200, await start(call, tools, call.id, { ...query, ...body }), tools),
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
