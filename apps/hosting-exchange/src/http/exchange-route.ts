import type { RoutePlace } from '@longwave/http-kit';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { EvidenceServiceService } from '@longwave/rpc/audience';
import type { ReceiptServiceService } from '@longwave/rpc/receipt';
import type { OperationServiceService } from '@longwave/rpc/resource';
import type { z } from 'zod';
import type { AcceptMessages } from '../messages/accept-messages.ts';
import type { SettleStream } from '../messages/settle-stream.ts';
import type { Client, ExchangeScope } from './authenticate.ts';

/** What the routes work with. */
export interface RouteDeps {
  readonly pool: Pool;
  readonly clock: () => Date;
  readonly accept: AcceptMessages;
  readonly settle: SettleStream;
  readonly operations: Pick<RpcClient<typeof OperationServiceService>, 'getOperation'>;
  readonly receipts: Pick<RpcClient<typeof ReceiptServiceService>, 'getReceipt' | 'proveChain' | 'listReceiptKeys'>;
  readonly evidence: Pick<RpcClient<typeof EvidenceServiceService>, 'listEvidenceRows' | 'countWindows'>;
  /** `{media_url}`. */
  readonly mediaUrl: string;
  /** A newest intent without an acknowledgement for so long is overdue. */
  readonly overdueMs: number;
}

/** A request that has passed the checks before its route: headers, rate, token, scope, workspace, key. */
export interface RouteCall {
  readonly client: Client;
  readonly parameter: (name: string) => string;
  readonly query: Readonly<Record<string, unknown>>;
  /** The parsed body of a write; undefined for a read. */
  readonly body: unknown;
  /** Of a write, else ''. */
  readonly idempotencyKey: string;
}

export interface Answer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

export const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });

export const notFound = (noun: string): Problem => new Problem('not_found', `There is no such ${noun}.`);

/** How long other services may take for a read. */
export const readMs = 5_000;

/** An operation of the API. */
export interface ExchangeRoute extends RoutePlace {
  readonly operation: string;
  readonly summary: string;
  /** Sentences for the documentation, after the scope. */
  readonly note?: string;
  readonly scope: ExchangeScope;
  readonly query?: z.ZodObject;
  /** Schema of the body, for the documentation; a write without one is a batch of messages. */
  readonly body?: z.ZodObject;
  /** Status → its description and the schema of its body. */
  readonly answers: Readonly<Record<number, readonly [note: string, body: z.ZodType]>>;
  /** Statuses of its refusals, besides those of every route. */
  readonly refusals: readonly number[];
  readonly answer: (call: RouteCall, deps: RouteDeps) => Promise<Answer>;
}
