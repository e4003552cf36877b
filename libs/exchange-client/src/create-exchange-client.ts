import { hash, randomUUID } from 'node:crypto';
import type { JWK } from 'jose';
import { z } from 'zod';
import { createTokenSource, type ClientProof } from './access-token.ts';
import {
  checkpointProof,
  comparedEvidence,
  messageMapping,
  messagePage,
  publicKeys,
  receipt,
  resolution,
  servingIntents,
  snapshotMapping,
  streamHead,
  type ComparedEvidence,
  type Receipt,
  type ServingIntent,
  type StoredMessage,
  type StreamHead,
} from './answers.ts';
import { jsonCalls } from './json-calls.ts';
import type { SignedMessage, SigningKey } from './message.ts';
import { createRequestSigner } from './sign-request.ts';
import { createSender, type RetryOptions } from './send-request.ts';
import { withMessages, type ExchangeStream } from './stream-messages.ts';
import { createStream } from './stream.ts';

export type ExchangeClientOptions = ClientProof & {
  /** `{api_url}` of the installation. */
  readonly apiUrl: string;
  /** `{base_url}/oauth/token` */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The workspace and the authority grant for which the client is registered. */
  readonly workspaceId: string;
  readonly authorityId: string;
  /** Signs messages; a client that only reads needs none. */
  readonly key?: SigningKey;
  /** Signs each request that writes with the same key (RFC 9421), beside its messages. */
  readonly signsRequests?: boolean;
  readonly retry?: RetryOptions;
  /** Called with signed messages before they are sent; see `stream.submit`. */
  readonly onSigned?: (messages: readonly SignedMessage[]) => void | Promise<void>;
  readonly fetch?: typeof fetch;
  readonly now?: () => Date;
};

/** What the platform has done about one version of a serving intent. */
export interface Acknowledgement {
  readonly intent_version: number;
  readonly plan_digest: string | null;
  readonly applied_at: string;
  readonly status: 'applied' | 'rejected' | 'superseded';
  readonly detail_code?: string;
}

/** What is asked for a listener: by alias, or by source and route. */
export interface RouteRequest {
  readonly alias?: string;
  readonly source?: { readonly source_id: string };
  readonly surface_id: string;
  readonly route?: 'source' | 'ad_free' | 'platform_controlled' | 'clean';
}

const part = encodeURIComponent;

/** A head, when it is of the authority that the client names. The token has the authority of its registration, whatever is named here. */
function ofAuthority(named: string, head: StreamHead | undefined): StreamHead | undefined {
  if (head && head.authority_id !== named)
    throw new Error(`The authority of the client is ${head.authority_id}; the settings name ${named}.`);
  return head;
}

/** A client of one authority in the Hosting Exchange of an installation. */
export function createExchangeClient(options: ExchangeClientOptions) {
  const { workspaceId, authorityId, clientId, tokenUrl, now = () => new Date() } = options;
  let { key } = options;
  const baseUrl = `${options.apiUrl.replace(/\/$/, '')}/hosting-exchange/v1`;
  const outside = options.fetch ?? fetch;
  const tokens = createTokenSource({ tokenUrl, clientId, resource: baseUrl, proof: options, fetch: outside });
  const signingKey = (): SigningKey => {
    if (!key) throw new Error('Name the key that signs messages.');
    return key;
  };
  const sign = options.signsRequests ? createRequestSigner({ key: signingKey, now }) : undefined;
  const send = createSender({ ...options.retry, baseUrl, tokens, fetch: outside, sign });
  const workspace = `/workspaces/${workspaceId}`;

  const { read, find, post, pages } = jsonCalls(send);

  /** Where a stream stands; undefined for one that has no message yet. Throws when it is of another authority than this client. */
  const head = async (streamId: string) =>
    ofAuthority(authorityId, await find(streamHead, `${workspace}/streams/${part(streamId)}`));

  const readReceipt = (id: string) => read(receipt, `${workspace}/receipts/${part(id)}`);

  /** The accepted messages of a stream in their order, page by page. */
  async function* messages(streamId: string, after = 0): AsyncGenerator<StoredMessage> {
    const path = `${workspace}/streams/${part(streamId)}/messages`;
    for await (const page of pages(messagePage, path, { after, limit: 100 })) yield* page.messages;
  }

  /** The same with their receipts: what `verifyStream` needs. */
  async function* exportStream(streamId: string, after = 0): AsyncGenerator<StoredMessage & { receipt: Receipt }> {
    for await (const message of messages(streamId, after))
      yield { ...message, receipt: await readReceipt(message.receipt_id) };
  }

  /** Opens a stream where the exchange says that it stands. The first message of a new one claims its id for the authority. */
  async function stream(streamId: string): Promise<ExchangeStream> {
    signingKey();
    const opened = createStream({
      ...{ workspaceId, authorityId, streamId, key: signingKey, send, onSigned: options.onSigned, now },
      ...{ readHead: () => head(streamId), head: await head(streamId) },
    });
    return withMessages(opened, { authorityId, key: signingKey, useKey: (next) => (key = next) });
  }

  return {
    stream,
    head,
    messages,
    exportStream,

    /** A stored message by its digest, with the resource that it became. */
    message: (digest: string) => find(messageMapping, `${workspace}/messages/${part(digest)}`),

    receipt: readReceipt,

    /** The public keys of the exchange's receipts. */
    keys: async (): Promise<readonly JWK[]> => (await read(publicKeys, '/keys')).keys,

    /** The newest checkpoint of the workspace; undefined in its first hour. */
    checkpoint: () => find(checkpointProof, `${workspace}/checkpoint`),

    /** What a source version has become; the newest without a version. */
    mapping: (sourceId: string, version?: number) =>
      find(
        snapshotMapping,
        `${workspace}/content-snapshots/${part(sourceId)}${version === undefined ? '' : `?version=${version}`}`,
      ),

    /** The rows of a report of the platform beside Longwave's own counts, page by page; none until they are imported. */
    evidence: (evidenceId: string): AsyncGenerator<ComparedEvidence> =>
      pages(comparedEvidence, `${workspace}/platform-evidence/${part(evidenceId)}`, { after: 0, limit: 500 }),

    /** Where to send a listener. */
    resolve: (request: RouteRequest) => post(resolution, `${workspace}/delivery-resolutions`, request, randomUUID()),

    /** Serving intents of a later version, in their order; each is the whole, and only the newest counts. */
    intents: async (afterVersion = 0): Promise<readonly ServingIntent[]> => {
      const found: ServingIntent[] = [];
      for (let after: number | null = afterVersion; after !== null;) {
        const path = `${workspace}/serving-intents?after_version=${after}&limit=100`;
        const page: z.output<typeof servingIntents> = await read(servingIntents, path);
        found.push(...page.intents);
        after = page.next_after_version;
      }
      return found;
    },

    /** Says what the platform has applied; a repetition changes nothing. */
    acknowledge: async (intentId: string, acknowledgement: Acknowledgement): Promise<void> => {
      const path = `${workspace}/serving-intents/${part(intentId)}/acknowledgements`;
      await post(z.unknown(), path, acknowledgement, hash('sha256', path + JSON.stringify(acknowledgement), 'hex'));
    },
  };
}

export type ExchangeClient = ReturnType<typeof createExchangeClient>;
