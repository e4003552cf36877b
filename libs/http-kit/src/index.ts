export { answerErrors, problemOf, type Failure } from './answer-errors.ts';
export { createAuthenticateMachine, type MachineTokenOptions } from './authenticate-machine.ts';
export {
  ifRangeHolds,
  evaluateConditions,
  ifNoneMatchNames,
  notModifiedSince,
  strongTagsOf,
  type Validators,
} from './conditions.ts';
export { connectRedis, logRedisError } from './connect-redis.ts';
export { endRoutes, serveOnlyGet } from './end-routes.ts';
export { listenHttp, type HttpListener } from './listen-http.ts';
export { methodNotAllowed, mountRoutes, type RoutePlace } from './mount-routes.ts';
export {
  fieldsOf,
  jsonSchema,
  openApiHead,
  openApiPaths,
  reference,
  routeParameters,
  type OpenApiPart,
} from './openapi.ts';
export { problemSchema } from './problem-schema.ts';
export { createRateLimit, type CountRequest, type RateVerdict } from './rate-limit.ts';
export { boundedBytes, requestBytes } from './read-bytes.ts';
export { checkBodyHeaders, readJson } from './read-json.ts';
export { problemDocument, renderProblem } from './render-problem.ts';
export { createHttpApp, requestIdOf, trackRequest } from './track-request.ts';
export {
  protectedResourcePath,
  protectedResourceUrl,
  serveProtectedResource,
  type OperatorPages,
  type ProtectedResource,
} from './protected-resource.ts';
