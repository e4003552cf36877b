import type { ProductResource, Resource } from '@longwave/command-catalog';
import type { Access, Asker, Caller, FindEnclosures, Identity, Management } from '@longwave/hosting-client';
import type { RestScope } from '@longwave/principal';
import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService } from '@longwave/rpc/audience';
import type { PreviewServiceService } from '@longwave/rpc/delivery';
import type { Logger } from '@longwave/service-kit';
import type { ServerResponse } from 'node:http';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Bucket } from './http/rate-limit.ts';
import type { ProgressFeed } from './productions/progress-feed.ts';

/** Clients and settings of all routes; built once in `app.ts`. */
export interface Deps {
  readonly management: Management;
  readonly identity: Identity;
  readonly audience: RpcClient<typeof AudienceServiceService>;
  readonly findEnclosures: FindEnclosures;
  readonly openPreview: RpcClient<typeof PreviewServiceService>['openPreview'];
  readonly redis: Redis;
  readonly progress: ProgressFeed;
  readonly baseUrl: string;
  readonly mediaUrl: string;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** One request whose parts are valid. */
interface ParsedCall<Q, B> {
  readonly caller: Asker;
  /** Asks auth-server again, for answers that outlive a statement. */
  readonly reauthenticate: () => Promise<Caller>;
  /** The `{id}` of the path, empty when it has none. */
  readonly id: string;
  readonly query: Q;
  readonly body: B;
  /** Path and query as they came, for links. */
  readonly url: string;
  readonly ifMatch: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** One request after every check before the route's own. */
export interface Call<Q = unknown, B = unknown, T extends ProductResource = ProductResource> extends ParsedCall<Q, B> {
  /** The route's object, visible to the caller. */
  readonly object: Resource<T> | undefined;
  /** The caller's rights on it; undefined as long as `object` is. */
  readonly access: Access | undefined;
}

/** A request whose path names the object: whoever gets here sees it. */
export interface ObjectCall<Q = unknown, B = unknown, T extends ProductResource = ProductResource> extends Call<
  Q,
  B,
  T
> {
  readonly object: Resource<T>;
  readonly access: Access;
}

/** A request to a guarded route: its command decides whether the caller sees the object and may change it. */
export interface SubjectCall<Q = unknown, B = unknown, T extends ProductResource = ProductResource> extends ParsedCall<
  Q,
  B
> {
  /**
   * The object with the caller's rights on it, as it was at the first call. Throws REST's 404, or the refusal of the route's `permit`.
   */
  readonly getObject: () => Promise<{ readonly object: Resource<T>; readonly access: Access }>;
}

export type Answer =
  | {
      readonly status: number;
      /** Absent: the answer has no body at all. */
      readonly body?: unknown;
      readonly etag?: string | undefined;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A document of comma-separated values (RFC 4180), in pieces, and the name under which it is saved. */
  | { readonly csv: AsyncIterable<string>; readonly fileName: string }
  /** Writes the answer itself, until the signal is aborted. */
  | { readonly stream: (response: ServerResponse, signal: AbortSignal) => Promise<void> };

/** The JSON that a route answers with; `name` is its name in the OpenAPI document. */
export interface AnswerShape {
  readonly name: string;
  readonly schema: z.ZodObject;
  /** It is one version of a resource: a command's answer carries `ETag`. */
  readonly versioned?: boolean;
  /** An array of them, whose fields `fields_filter[]` chooses. */
  readonly list?: boolean;
}

/** Header name → what it says. */
export type HeaderNotes = Readonly<Record<string, string>>;

/** A resource, and where the request names it. */
interface RouteObject<T extends ProductResource> {
  readonly type: T;
  readonly from: 'path' | 'query' | 'body';
  readonly field: string;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1`, with `{id}`. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly bucket: Bucket;
  /** What a partner's access token must have been granted; every other credential needs none. */
  readonly scope: RestScope;
  /** The resource that must be visible before anything else is checked. */
  readonly object: RouteObject<ProductResource> | undefined;
  /** Throws `permission_denied`; runs before validation (docs/ARCHITECTURE.md, the order of checks). */
  readonly permit: (call: Pick<Call, 'caller' | 'object' | 'access'>, deps: Deps) => void | Promise<void>;
  readonly query: z.ZodObject;
  /** Undefined for routes without a body. */
  readonly body: z.ZodObject | undefined;
  /** True when the fields of the body may come as query parameters as well; the body wins. */
  readonly queryOrBody: boolean;
  readonly status: number;
  /** `empty` has no body; `events` are server-sent; `csv` is a document of comma-separated values. */
  readonly answer: AnswerShape | 'events' | 'csv' | 'empty';
  /** Another success, for what its description says. */
  readonly otherAnswer: { readonly status: number; readonly when: string; readonly answer: AnswerShape } | undefined;
  /** Whether its answer is one version of the path's object: it then carries `ETag` and knows `If-None-Match`. */
  readonly tagged: boolean;
  /** Headers of its own that a success carries. */
  readonly headers: HeaderNotes;
  /** True for commands: they take `Idempotency-Key`. */
  readonly command: boolean;
  /** Statuses of its own, beyond those of every route of its kind. */
  readonly refusals: readonly number[];
  /** Refusals among them whose body is empty. */
  readonly emptyRefusals: readonly number[];
  /** True for a path that has a successor: the same path with `analytics` in place of `statistics`. */
  readonly deprecated: boolean;
  /** True when the object is the subject of the route's commands: `If-Match` goes with them, and they decide about it. */
  readonly guarded: boolean;
  /** True for a command that ends its subject: a retry under its key finds the subject gone and is the same success. */
  readonly ends: boolean;
  /** How long everything behind the gateway may take together, once the request has been read. */
  readonly deadlineMs: number;
  readonly run: (call: Call & SubjectCall, deps: Deps) => Promise<Answer>;
}

/** Whether `If-Match` counts: no write happens under a condition that does not hold; a read needs a tag to compare. */
export const takesIfMatch = ({ method, tagged }: Pick<Route, 'method' | 'tagged'>): boolean =>
  method !== 'GET' || tagged;

type Optional =
  | 'bucket'
  | 'scope'
  | 'object'
  | 'permit'
  | 'query'
  | 'body'
  | 'queryOrBody'
  | 'status'
  | 'otherAnswer'
  | 'tagged'
  | 'headers'
  | 'command'
  | 'refusals'
  | 'emptyRefusals'
  | 'deprecated'
  | 'guarded'
  | 'ends'
  | 'deadlineMs';
type Declared = Omit<Route, Optional | 'run'> & Partial<Pick<Route, Exclude<Optional, 'object' | 'query' | 'body'>>>;

const nothing = z.strictObject({});

/** The usual scope: of reads, of upload addresses, of other writes. */
const scopeOf = ({ method, bucket }: Pick<Declared, 'method' | 'bucket'>): RestScope => {
  if (method === 'GET') return 'api:read';
  return bucket === 'upload_urls' ? 'api:uploads.write' : 'api:write';
};

interface WithSchemas<Q extends z.ZodObject, B extends z.ZodObject> {
  readonly query?: Q;
  readonly body?: B;
}

/**
 * A route with the usual answers filled in; `run` sees query and body as their schemas parse them, and the object by its type. An object
 * that the path names is always there: without it the answer was 404 (`answer-route.ts`). A guarded route reads it when it needs it.
 */
export function defineRoute<
  T extends ProductResource,
  Q extends z.ZodObject = typeof nothing,
  B extends z.ZodObject = typeof nothing,
>(
  declared: Declared &
    WithSchemas<Q, B> & {
      readonly object: RouteObject<T> & { readonly from: 'path' };
      readonly guarded: true;
      readonly run: (call: SubjectCall<z.output<Q>, z.output<B>, T>, deps: Deps) => Promise<Answer>;
    },
): Route;
export function defineRoute<
  T extends ProductResource,
  Q extends z.ZodObject = typeof nothing,
  B extends z.ZodObject = typeof nothing,
>(
  declared: Declared &
    WithSchemas<Q, B> & {
      readonly object: RouteObject<T> & { readonly from: 'path' };
      readonly guarded?: false;
      readonly run: (call: ObjectCall<z.output<Q>, z.output<B>, T>, deps: Deps) => Promise<Answer>;
    },
): Route;
export function defineRoute<
  T extends ProductResource = ProductResource,
  Q extends z.ZodObject = typeof nothing,
  B extends z.ZodObject = typeof nothing,
>(
  declared: Declared &
    WithSchemas<Q, B> & {
      readonly object?: RouteObject<T>;
      readonly guarded?: false;
      readonly run: (call: Call<z.output<Q>, z.output<B>, T>, deps: Deps) => Promise<Answer>;
    },
): Route;
export function defineRoute(
  declared: Declared &
    WithSchemas<z.ZodObject, z.ZodObject> & {
      readonly object?: RouteObject<ProductResource>;
      readonly run: (call: never, deps: Deps) => Promise<Answer>;
    },
): Route {
  return {
    bucket: 'requests',
    scope: scopeOf(declared),
    object: undefined,
    permit: () => undefined,
    query: nothing,
    body: undefined,
    queryOrBody: false,
    status: 200,
    otherAnswer: undefined,
    tagged: false,
    headers: {},
    command: false,
    refusals: [],
    emptyRefusals: [],
    deprecated: false,
    guarded: false,
    ends: false,
    deadlineMs: 15_000,
    ...declared,
    run: declared.run as Route['run'],
  };
}
