import { randomBytes } from 'node:crypto';
import { productCatalog } from '@longwave/command-catalog';
import { createReceiptLog, createResourceReader, publicReceiptKey, type Actor } from '@longwave/command-pipeline';
import { listenHttp, type CountRequest } from '@longwave/http-kit';
import { newId } from '@longwave/ids';
import { bearerOf, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { createLogger } from '@longwave/service-kit';
import type { ManagementScope, TokenHolder } from '../src/http/authenticate.ts';
import type { RouteDeps } from '../src/http/management-route.ts';
import { createDiagnostics } from '../src/diagnostics/diagnostics.ts';
import { createChangeSignals } from '../src/http/change-signals.ts';
import { createEventStreams } from '../src/http/event-streams.ts';
import { basePath } from '../src/http/public-documents.ts';
import { createManagementServer, type ManagementServerOptions } from '../src/http/server.ts';
import { createAccess } from '../src/workspace/access/access.ts';
import { createReadLineFunnel } from '../src/commerce/funnel/read-line-funnel.ts';
import { createReadStatementLedger } from '../src/commerce/billing/read-statement-ledger.ts';
import { createSignStatement } from '../src/commerce/billing/statement-documents.ts';
import { createSignReport } from '../src/workspace/reports/sign-report.ts';
import { createUploadSigner } from '../src/workspace/uploads/sign-upload.ts';
import { createProvisionWorkspace } from '../src/workspace/workspaces/provision-workspace.ts';
import { createListItems } from '../src/commerce/reconciliations/item-table.ts';
import { createReadTally } from '../src/advertising/trackers/tracker-tally-table.ts';
import { createListDeliveries } from '../src/workspace/webhooks/delivery-list-table.ts';
import type { TestManagement } from './_management.ts';

/** `{api_url}` as answers name it; requests go to the server's own port. */
export const apiUrl = 'http://api.test';

/** An answer as a client sees it. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The bytes, as text. */
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- parsed JSON of many shapes
  readonly json: any;
}

export interface HttpRequest {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as it is when it is a text. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Parts of the server that a test has of its own. */
type OwnServerParts = Partial<Pick<ManagementServerOptions, 'authenticate' | 'receiptKeys'>>;

/** An internal-serving that is away. */
const away = async () => Promise.reject(new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 }));
const noServing = { explain: away, find: away };
const noPacing = { readPacing: away, readPacingHours: away, readFunnel: away, explainFit: away };
const noReport = (): never => {
  throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
};

/** The Management API on a port, with tokens that the test gives out. Everything behind authentication is real. */
export async function serveHttp(
  management: TestManagement,
  further: Partial<RouteDeps> = {},
  server: OwnServerParts = {},
) {
  await using stack = new AsyncDisposableStack();
  const { pool, store, execute, clock } = management;
  const reader = stack.use(
    createResourceReader({ pool, schema: 'product', catalog: productCatalog, cursorKey: randomBytes(32), clock }),
  );
  const eventStreams = createEventStreams({ maxPerClient: 3, checkEveryMs: 20 });
  const changeSignals = createChangeSignals();
  const holders = new Map<string, TokenHolder>();
  const logLines: string[] = [];
  const counted: { key: string; limit: number }[] = [];
  const rates: { count: CountRequest } = { count: async () => ({ throttled: false, headers: {} }) };
  const listener = await listenHttp(
    '127.0.0.1:0',
    createManagementServer({
      authenticate: async ({ authorization }) => {
        if (authorization === undefined) throw new Problem('token_missing', 'Send a token: Authorization: Bearer ….');
        const holder = holders.get(bearerOf(authorization) ?? '');
        if (!holder) throw new Problem('token_invalid', 'The token is not valid here.');
        return holder;
      },
      countRequest: (key, limit) => {
        counted.push({ key, limit });
        return rates.count(key, limit);
      },
      senderOf: ({ headers }) => String(headers['x-forwarded-for'] ?? '127.0.0.1'),
      deps: {
        ...{
          access: createAccess(pool),
          readAccess: createAccess(pool),
          execute,
          reader,
          receipts: { commands: createReceiptLog(pool), authority: createReceiptLog(pool) },
          getAuthorityReceipt: reader.getReceipt,
          clock,
          uploads: createUploadSigner(pool, store, clock),
          cursorKey: randomBytes(32),
          previewReview: management.previewReview,
          eventStreams,
          changeSignals,
        },
        findProgress: async () => undefined,
        listDeliveries: createListDeliveries(pool),
        readTally: createReadTally(pool),
        listReconciliationItems: createListItems(pool),
        findPerson: async () => ({ accountName: 'Harbour Light', person: undefined }),
        listAlerts: async () => ({ alerts: [], next: undefined }),
        provisionWorkspace: createProvisionWorkspace(pool, execute),
        diagnostics: createDiagnostics({ pool, serving: noServing, clock }),
        signReport: createSignReport(pool, store, clock),
        signStatement: createSignStatement(pool, store, clock),
        readStatementLedger: createReadStatementLedger(pool, management.ledger),
        readLineFunnel: createReadLineFunnel({ ...noPacing, readReport: noReport, pool, clock }),
        ...further,
      },
      receiptKeys: { list: () => [publicReceiptKey(management.receiptKey)], isComplete: () => true },
      issuer: 'http://base.test',
      apiUrl,
      pages: {},
      logger: createLogger('management', 'debug', { write: (line) => void logLines.push(line) }),
      ...server,
    }),
  );
  stack.defer(() => listener.close());
  const origin = `http://127.0.0.1:${listener.port}`;
  stack.use(eventStreams);
  const running = stack.move();
  return {
    origin,
    logLines,
    counted,
    rates,
    eventStreams,
    changeSignals,
    /** Gives a token other rights. */
    changeHolder: (token: string, principal: Principal) =>
      void holders.set(token, { ...holders.get(token)!, principal }),
    /** Ends a token. */
    revoke: (token: string) => void holders.delete(token),
    /** A token of a person, with scopes and the client that it was given to. */
    tokenFor(
      actor: Actor,
      scopes: readonly ManagementScope[] = ['management:read', 'management:write'],
      clientId: string = newId('cli'),
      purposes: readonly string[] = [],
    ): string {
      if (actor.kind !== 'principal') throw new Error('tokens are for people');
      const token = newId('tok');
      const principal = {
        ...actor.principal,
        client_id: clientId,
        credential_kind: 'management_access_token' as const,
      };
      holders.set(token, {
        principal,
        clientId,
        scopes: new Set(scopes),
        grantId: newId('gnt'),
        purposes,
        requestsPerMinute: 60,
      });
      return token;
    },
    /** Sends a request to a path below the base path. */
    async call(path: string, { method, token, headers = {}, body, signal }: HttpRequest = {}): Promise<HttpAnswer> {
      const isJson = body !== undefined && !('content-type' in headers);
      const response = await fetch(`${origin}${basePath}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(isJson && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(signal && { signal }),
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isParsed = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: isParsed ? JSON.parse(text) : undefined,
      };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

export type HttpWorld = Awaited<ReturnType<typeof serveHttp>>;

/** The body of an answer without what is of its own in every answer: the trace. */
export const withoutTrace = ({ text, headers }: HttpAnswer): string =>
  text.replaceAll(headers.get('x-request-id') ?? 'none', 'TRACE');
