import type { Access, Asker, Caller } from '@longwave/hosting-client';
import { idempotencyKeyPattern } from '@longwave/idempotency';
import { Problem } from '@longwave/problems';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { checkIfMatch, guardFor } from './http/etag.ts';
import { pathAndQuery } from './http/path-and-query.ts';
import { noBody, parseBody, parseParameters, parseQuery, readBody, type RawBody } from './http/read-input.ts';
import { takesIfMatch, type Answer, type Call, type Route, type Deps, type SubjectCall } from './route.ts';

function idempotencyKeyOf(request: Request, route: Route): string | undefined {
  const key = route.command ? request.get('idempotency-key') : undefined;
  // The upload routes judge it with a message of their own.
  if (key === undefined || route.bucket === 'upload_urls' || idempotencyKeyPattern.test(key)) return key;
  throw new Problem(
    'idempotency_key_invalid',
    'Use 1 to 128 characters as Idempotency-Key: letters, digits, ".", "_", ":", "-"; a letter or digit first.',
  );
}

const readParameters = ({ queryOrBody }: Route, schema: z.ZodObject, { query }: Request, body: RawBody) =>
  queryOrBody ? parseParameters(schema, query, body) : parseBody(schema, body);

interface VisibleObject {
  readonly object: Call['object'];
  readonly access: Access | undefined;
}

const nothingRead: VisibleObject = { object: undefined, access: undefined };

/** The route's object where the request names it: path, query or body, before either is validated. Throws REST's 404. */
async function findObject(
  { object: declared, ends, queryOrBody }: Route,
  request: Request,
  bodyRead: () => RawBody,
  caller: Asker,
  { management }: Deps,
): Promise<VisibleObject> {
  if (!declared) return nothingRead;
  const { type, from, field } = declared;
  const sources = { path: () => request.params, query: () => request.query, body: () => bodyRead().value };
  const found = (sources[from]() as Readonly<Record<string, unknown>> | null)?.[field];
  const id = found === undefined && queryOrBody && from === 'body' ? request.query[field] : found;
  if (typeof id !== 'string') return nothingRead;
  const includeHidden = ends && request.get('idempotency-key') !== undefined;
  const { resource, access } = await management.find(caller, type, id, { includeHidden });
  return { object: resource, access };
}

/**
 * Object visible → permission → validation → preconditions → the route (docs/ARCHITECTURE.md, the order of checks). The command of a
 * guarded route checks visibility and permission itself; the object is read only for an answer that the first two checks may forbid:
 * a refusal, or the first answer to a used key (docs/adr/0030).
 */
export async function answerRoute(
  route: Route,
  request: Request,
  response: Response,
  options: {
    readonly admitted: Caller;
    readonly reauthenticate: () => Promise<Caller>;
    readonly deps: Deps;
  },
): Promise<Answer> {
  const { admitted, reauthenticate, deps } = options;
  const onlyJson = admitted.credentialKind === 'browser_session';
  const read = await Promise.allSettled([route.body ? readBody(request, response, { onlyJson }) : noBody]);
  const bodyOf = ([result]: typeof read) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  };
  const caller = { ...admitted, deadline: new Date(Date.now() + route.deadlineMs) };
  let visible: Promise<VisibleObject> | undefined;
  const findPermitted = async () => {
    const found = await findObject(route, request, () => bodyOf(read), caller, deps);
    await route.permit({ caller, ...found }, deps);
    return found;
  };
  // A guarded route names its object in the path, so that there is one.
  const getObject = (() => (visible ??= findPermitted())) as SubjectCall['getObject'];
  const { object, access } = route.guarded ? nothingRead : await getObject();
  const readInput = async () => {
    const body = bodyOf(read);
    const ifMatch = request.get('if-match');
    const input = {
      query: route.queryOrBody ? {} : parseQuery(route.query, request.query),
      body: route.body && readParameters(route, route.body, request, body),
      ifMatch: route.guarded ? await guardFor(ifMatch, async () => (await getObject()).object) : undefined,
      idempotencyKey: idempotencyKeyOf(request, route),
    };
    if (takesIfMatch(route) && !route.guarded)
      checkIfMatch(ifMatch, route.object?.from === 'path' ? object : undefined);
    return input;
  };
  // A fault of the request is reported only after visibility and permission are checked.
  const input = await readInput().catch(async (error: unknown) => {
    await getObject();
    throw error;
  });
  const id = typeof request.params['id'] === 'string' ? request.params['id'] : '';
  const url = pathAndQuery(request.originalUrl);
  return route.run({ caller, reauthenticate, id, object, access, getObject, url, ...input }, deps);
}
