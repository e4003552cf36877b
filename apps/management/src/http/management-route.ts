import type { CursorKeys, ExecuteCommand, PreviewReview, ReceiptLog, ResourceReader } from '@longwave/command-pipeline';
import type { ProgressTick } from '@longwave/events';
import type { RoutePlace } from '@longwave/http-kit';
import type { Principal } from '@longwave/principal';
import type { ProblemCode } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { AccountServiceService } from '@longwave/rpc/credential';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { UploadSigner } from '../workspace/uploads/sign-upload.ts';
import type { Access } from '../workspace/access/access.ts';
import type { ProvisionWorkspace } from '../workspace/workspaces/provision-workspace.ts';
import type { ReadTally } from '../advertising/trackers/tracker-tally-table.ts';
import type { ReadLineFunnel } from '../commerce/funnel/read-line-funnel.ts';
import type { ListAlerts } from '../commerce/alerts/list-alerts.ts';
import type { ListReconciliationItems } from '../commerce/reconciliations/item-table.ts';
import type { ListDeliveries } from '../workspace/webhooks/delivery-list-table.ts';
import type { Diagnostics } from '../diagnostics/diagnostics.ts';
import type { ManagementScope, TokenHolder } from './authenticate.ts';
import type { ChangeSignals } from './change-signals.ts';
import type { EventStreams } from './event-streams.ts';
import type { SignStatement } from '../commerce/billing/statement-documents.ts';
import type { ReadStatementLedger } from '../commerce/billing/read-statement-ledger.ts';
import type { SignReport } from '../workspace/reports/sign-report.ts';

/** A workspace has one chain of receipts for each log. */
export const receiptChains = ['commands', 'authority'] as const;
type ReceiptChain = (typeof receiptChains)[number];

/** What routes answer from. A route that needs more adds a field here and in `app.ts`. */
export interface RouteDeps {
  readonly access: Access;
  /** The same over the connections of reads, which take none from commands. */
  readonly readAccess: Access;
  readonly execute: ExecuteCommand;
  readonly reader: ResourceReader;
  readonly diagnostics: Diagnostics;
  readonly provisionWorkspace: ProvisionWorkspace;
  readonly listDeliveries: ListDeliveries;
  readonly readTally: ReadTally;
  readonly listReconciliationItems: ListReconciliationItems;
  readonly readLineFunnel: ReadLineFunnel;
  readonly listAlerts: ListAlerts;
  /** Names of the account and of the person of a session, from auth-server. */
  readonly findPerson: RpcClient<typeof AccountServiceService>['findPerson'];
  /** Seals the cursors of lists that the routes page themselves. */
  readonly cursorKey: CursorKeys;
  /** By the chain: of management's commands, and of auth-server's about accounts, credentials and members. */
  readonly receipts: Readonly<Record<ReceiptChain, ReceiptLog>>;
  /** A receipt of auth-server's chain by its workspace and id. Throws `not_found`. */
  readonly getAuthorityReceipt: ResourceReader['getReceipt'];
  readonly clock: () => Date;
  readonly uploads: UploadSigner;
  readonly previewReview: PreviewReview;
  readonly eventStreams: EventStreams;
  readonly changeSignals: ChangeSignals;
  /** The last tick of a production's encoding; undefined when there is none or Redis is away. */
  readonly findProgress: (productionId: string) => Promise<ProgressTick | undefined>;
  readonly signReport: SignReport;
  readonly signStatement: SignStatement;
  readonly readStatementLedger: ReadStatementLedger;
  /** Root of the API's addresses, without a slash at the end: `{api_url}/management/v1`. */
  readonly root: string;
}

/** A request that has passed the checks before its route: token, rate, scope, workspace, query. */
export interface RouteCall {
  readonly request: Request;
  readonly actor: { readonly kind: 'principal'; readonly principal: Principal };
  /** The token and what it was given for; of a route that needs none, a token of nobody. */
  readonly token: Pick<TokenHolder, 'clientId' | 'grantId' | 'purposes'>;
  /** Of the path, visible to the actor; empty for a route without one. */
  readonly workspaceId: string;
  /** Another parameter of the path. Throws when the path has none of that name. */
  readonly parameter: (name: string) => string;
  /**
   * The actor by the same token now: streams ask again. Throws like the first check when the token, its scope or the view of the workspace
   * has ended.
   */
  readonly recheck: () => Promise<RouteCall['actor']>;
  /** The query, parsed by the route's schema, which gives it its type. */
  readonly query: Readonly<Record<string, unknown>>;
}

interface AnswerHead {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with a body of JSON text, or with none. */
export interface TextAnswer extends AnswerHead {
  readonly body?: string;
}

/** An answer that is written bit by bit, as server-sent events are. */
interface StreamAnswer extends AnswerHead {
  readonly contentType: string;
  /** Writes the body after the head was sent, and ends the response. */
  readonly stream: (response: Response) => Promise<void>;
}

export type RouteAnswer = TextAnswer | StreamAnswer;

/** One answer of a route in the documentation. */
interface DescribedAnswer {
  readonly description: string;
  /** Its body: a name for the schema in the document, and the schema. Absent: no body. */
  readonly body?: { readonly name: string; readonly schema: z.ZodType };
  /** Default `application/json`. */
  readonly mediaType?: string;
  /** Other media types that a client may ask for. */
  readonly alsoAs?: readonly string[];
  /** Name → description. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An operation of the Management API: what the server does with a request before it answers, and what the documentation says. */
export interface ManagementRoute extends RoutePlace {
  /** `noun.verb`, in logs, metrics and the documentation. */
  readonly operation: string;
  readonly summary: string;
  /** Sentences for the documentation, after the scope. */
  readonly note?: string;
  /** The scope that a token needs; null: needs no token. */
  readonly scope: ManagementScope | null;
  /** Of the web application alone: for the session of a browser, at `{base_url}`. */
  readonly sessionOnly?: true;
  /** The grantee of a proposed grant passes the check of the workspace; the route shows nothing but what names the caller. */
  readonly forParties?: boolean;
  /** Closed schema of the query, default: no parameter. */
  readonly query?: z.ZodObject;
  /** Headers that it reads, for the documentation. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly required?: boolean }>>;
  /** A body of JSON, for the documentation; the route itself reads and parses it. */
  readonly body?: { readonly name: string; readonly schema: z.ZodType };
  /** By status. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Problems that it throws itself, beside those of the server's checks. */
  readonly refusals: readonly ProblemCode[];
  /** Checks a word of the path that names a type, before the query. Throws `unknown_…`. */
  readonly checkPath?: (parameter: RouteCall['parameter']) => void;
  /** Checks the headers of a body, before the token is checked. */
  readonly checkHeaders?: (request: Request) => void;
  readonly answer: (call: RouteCall, deps: RouteDeps) => Promise<RouteAnswer>;
}

/** Aborted when the caller no longer waits for the answer, and after it. */
export function whileCallerWaits({ request }: Pick<RouteCall, 'request'>): AbortSignal {
  const ended = new AbortController();
  request.res?.once('close', () => ended.abort());
  return ended.signal;
}

/** An answer of 200, or another status, with a value as JSON. */
export const json = (
  body: unknown,
  { status = 200, headers }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): TextAnswer => ({ status, body: JSON.stringify(body), ...(headers && { headers }) });
