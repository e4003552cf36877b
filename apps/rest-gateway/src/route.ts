import type { ResourceView } from '@longwave/events';
import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService } from '@longwave/rpc/audience';
import type { Logger } from '@longwave/service-kit';
import type { ServerResponse } from 'node:http';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Caller } from './http/authenticate.ts';
import type { Bucket } from './http/rate-limit.ts';
import type { Asker, Management, ResourceType } from './management.ts';
import type { ProgressFeed } from './productions/progress-feed.ts';

/** What routes work with; built once in `app.ts`. */
export interface Tools {
  readonly management: Management;
  readonly audience: RpcClient<typeof AudienceServiceService>;
  readonly redis: Redis;
  readonly progress: ProgressFeed;
  readonly baseUrl: string;
  readonly mediaUrl: string;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** One request after every check before the route's own. */
export interface Call<Q = unknown, B = unknown> {
  readonly caller: Caller & Asker;
  /** Asks auth-server again, for answers that outlive a statement. */
  readonly reauthenticate: () => Promise<Caller>;
  /** The `{id}` of the path, empty when it has none. */
  readonly id: string;
  /** The route's object, visible to the caller. */
  readonly object: ResourceView | undefined;
  readonly query: Q;
  readonly body: B;
  /** Path and query as they came, for links. */
  readonly url: string;
  readonly ifMatch: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export type Answer =
  | {
      readonly status: number;
      readonly body: unknown;
      readonly etag?: string | undefined;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Writes the answer itself, until the signal is aborted. */
  | { readonly stream: (response: ServerResponse, signal: AbortSignal) => Promise<void> };

/** The JSON that a route answers with; `name` is its name in the OpenAPI document. */
export interface AnswerShape {
  readonly name: string;
  readonly schema: z.ZodObject;
  readonly list?: boolean;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below `/api/v1`, with `{id}`. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly bucket: Bucket;
  /** What must be visible before anything else is checked, and where the request names it. */
  readonly object:
    { readonly type: ResourceType; readonly from: 'path' | 'query' | 'body'; readonly field: string } | undefined;
  /** Throws `permission_denied`; runs before validation (design: rest-api.md, order of checks). */
  readonly permit: (caller: Caller, object: ResourceView | undefined) => void;
  readonly query: z.ZodObject;
  /** Undefined for routes without a body. */
  readonly body: z.ZodObject | undefined;
  readonly status: number;
  readonly answer: AnswerShape | 'events';
  /** True for commands: they take `Idempotency-Key`, and `If-Match` when they have a subject. */
  readonly command: boolean;
  /** Statuses of its own, beyond those of every route of its kind. */
  readonly refusals: readonly number[];
  /** Headers of these refusals, by name: what each says. */
  readonly refusalHeaders: Readonly<Record<string, string>>;
  /** How long everything behind the gateway may take together, once the request has been read. */
  readonly deadlineMs: number;
  readonly run: (call: Call, tools: Tools) => Promise<Answer>;
}

type Optional =
  | 'bucket'
  | 'object'
  | 'permit'
  | 'query'
  | 'body'
  | 'status'
  | 'command'
  | 'refusals'
  | 'refusalHeaders'
  | 'deadlineMs';
type Declared = Omit<Route, Optional | 'run'> & Partial<Pick<Route, Exclude<Optional, 'query' | 'body'>>>;

const nothing = z.strictObject({});

/** A route with the usual answers filled in; `run` sees query and body as their schemas parse them. */
export function defineRoute<Q extends z.ZodObject = typeof nothing, B extends z.ZodObject = typeof nothing>(
  declared: Declared & {
    readonly query?: Q;
    readonly body?: B;
    readonly run: (call: Call<z.output<Q>, z.output<B>>, tools: Tools) => Promise<Answer>;
  },
): Route {
  return {
    bucket: 'requests',
    object: undefined,
    permit: () => undefined,
    query: nothing,
    body: undefined,
    status: 200,
    command: false,
    refusals: [],
    refusalHeaders: {},
    deadlineMs: 15_000,
    ...declared,
    run: declared.run as Route['run'],
  };
}
