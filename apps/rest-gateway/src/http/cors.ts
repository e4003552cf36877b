import type { RequestHandler } from 'express';

const allowedHeaders = ['Authorization', 'Token', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match'];
const allowedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
const exposedHeaders = [
  ...['X-Request-Id', 'ETag', 'Location', 'Link', 'X-Total-Count', 'Retry-After', 'WWW-Authenticate'],
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Deprecation', 'Sunset'],
];
const preflightSeconds = 86_400;

/**
 * Lets pages of every origin use the API with a credential that they send as a header; a cookie counts from our own
 * pages only (`admitCookie`), so `*` gives nothing away (Fetch standard, CORS protocol). A preflight carries no credential and is answered 204. An OPTIONS request with a
 * credential is no preflight and goes on to its route.
 */
export const allowBrowsers: RequestHandler = (request, response, next) => {
  response.set({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': exposedHeaders.join(', '),
  });
  const isPreflight =
    request.method === 'OPTIONS' &&
    request.get('access-control-request-method') !== undefined &&
    request.get('authorization') === undefined &&
    request.get('token') === undefined;
  if (!isPreflight) return next();
  response.set({
    'Access-Control-Allow-Methods': allowedMethods.join(', '),
    'Access-Control-Allow-Headers': allowedHeaders.join(', '),
    'Access-Control-Max-Age': String(preflightSeconds),
  });
  response.status(204).end();
};
