import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ifNoneMatchNames } from '@longwave/http-kit';
import type { Caller } from '@longwave/hosting-client';
import type { Request, Response } from 'express';
import { createOpenStreams } from './http/open-streams.ts';
import type { RestError } from './http/rest-failure.ts';
import type { Answer, Route } from './route.ts';

/** Streams that one credential may have open at the same time, in this process. */
const maxOpenStreams = 20;

/** The answer to a client over its rate limit: plain text, as clients of REST v1 know it. */
export const sendThrottled = (response: Response): void =>
  void response.status(429).type('text/plain').send('Throttled');

/** Writes an error as REST shows it. */
export function sendFailure({ status, message, reason, headers = {} }: RestError, response: Response): void {
  response.set('Cache-Control', 'no-store');
  if (status === 429) return sendThrottled(response.set(headers));
  for (const [name, value] of Object.entries(headers)) response.append(name, value);
  response.status(status).json({ code: status, message, ...(reason && { reason }) });
}

async function sendCsv(
  request: Request,
  response: Response,
  { csv, fileName }: Extract<Answer, { csv: unknown }>,
): Promise<void> {
  // The first piece is read before anything is sent, so that a failure there still becomes an error answer.
  const pieces = csv[Symbol.asyncIterator]();
  const first = await pieces.next();
  response.set('Cache-Control', 'private, no-cache').attachment(fileName).type('text/csv; charset=utf-8');
  if (request.method === 'HEAD' || first.done) return void response.end();
  response.write(first.value);
  const rest = { [Symbol.asyncIterator]: () => pieces };
  await pipeline(Readable.from(rest), response).catch(() => response.destroy());
}

function sendJson(
  { tagged }: Route,
  request: Request,
  response: Response,
  { status, body, etag, headers = {} }: Extract<Answer, { status: number }>,
): void {
  response.set({ 'Cache-Control': 'private, no-cache', ...headers });
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const tag = isRead && !tagged ? undefined : etag;
  if (tag) response.set('ETag', tag);
  if (tag && isRead && ifNoneMatchNames(request.get('if-none-match'), tag)) response.status(304).end();
  else if (body === undefined) response.status(status).end();
  else response.status(status).json(body);
}

interface Exchange {
  readonly route: Route;
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller;
}

/**
 * Writes answers: JSON, CSV or a stream of events.
 * @param stopping ends the streams when the process stops
 */
export function createSendAnswer(stopping: AbortSignal): (answer: Answer, exchange: Exchange) => Promise<void> {
  const openStreams = createOpenStreams(maxOpenStreams);

  async function sendStream(
    { request, response, caller }: Exchange,
    stream: Extract<Answer, { stream: unknown }>['stream'],
  ): Promise<void> {
    // A client that left before this point sends no later 'close'.
    if (response.destroyed) return;
    if (request.method === 'HEAD') return void response.type('text/event-stream').end();
    const close = openStreams.tryOpen(caller.clientId || caller.credentialId);
    if (!close) return sendThrottled(response.set({ 'RateLimit-Remaining': '0', 'Retry-After': '60' }));
    const left = new AbortController();
    response.once('close', () => left.abort());
    await stream(response, AbortSignal.any([left.signal, stopping])).finally(close);
  }

  return async (answer, exchange) => {
    const { route, request, response } = exchange;
    if ('stream' in answer) await sendStream(exchange, answer.stream);
    else if ('csv' in answer) await sendCsv(request, response, answer);
    else sendJson(route, request, response, answer);
  };
}
