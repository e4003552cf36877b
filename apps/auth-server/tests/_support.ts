import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { awayAddresses, developmentCa, startTestDatabase, startTestRedis } from '@longwave/fleet';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { newId } from '@longwave/ids';
import { openChannel, readTls } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import {
  AccountServiceService,
  Api,
  Carrier,
  ClientServiceService,
  CredentialServiceService,
  MachineTokenServiceService,
} from '@longwave/rpc/credential';
import { ReceiptServiceService } from '@longwave/rpc/receipt';
import { ResourceServiceService } from '@longwave/rpc/resource';
import { createLogger } from '@longwave/service-kit';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { createApp } from '../src/app.ts';
import { readConfiguration } from '../src/config.ts';

export const secretText = (prefix: 'lw_key_' | 'svc_pat_' | 'svc_mcp_') =>
  prefix + randomBytes(32).toString('base64url');
/** The public root of the service under test, whatever port it listens on, unless the test gives another. */
export const baseUrl = 'http://localhost:4000';

export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

async function writeKey(file: string): Promise<JWK> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  writeFileSync(file, JSON.stringify({ ...(await exportJWK(privateKey)), kid: 'test' }), { mode: 0o600 });
  return exportJWK(publicKey);
}

/** Writes a file with one signing key; answers a function that adds a newer one, and the public keys, newest first. */
async function createTokenKeys(file: string) {
  const privateKeys: JWK[] = [];
  const publicKeys: JWK[] = [];
  const add = async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const kid = `token-${privateKeys.length + 1}`;
    privateKeys.unshift({ ...(await exportJWK(pair.privateKey)), kid });
    publicKeys.unshift({ ...(await exportJWK(pair.publicKey)), kid });
    writeFileSync(file, JSON.stringify({ keys: privateKeys }), { mode: 0o600 });
    return publicKeys;
  };
  await add();
  return { add, publicKeys };
}

interface StartOptions {
  readonly databaseUrl?: string;
  /** The private key of receipts, in place of a new one. */
  readonly receiptKeyFile?: string;
  /** Where its clock begins. */
  readonly now?: Date;
  readonly redisUrl?: string;
  /** Sends mails, in place of a folder. */
  readonly mailUrl?: string;
  /** A public root of this machine, on whose port the service listens. */
  readonly ownUrl?: string;
  /** The hosts of metadata documents. */
  readonly fetchDocument?: GuardedFetch;
}

/** auth-server on a real PostgreSQL and Redis, with a gateway and an operator that call it. */
export async function startAuthServer(options: StartOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'auth-server-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const names = ['auth-server', 'rest-gateway', 'operator', 'management', 'analytics-sink'] as const;
  const identities = await developmentCa(path.join(folder, 'ca'), names, new Date());
  const database = stack.use(await startTestDatabase({ schema: 'identity', migrations: 'apps/auth-server/prisma' }));
  const redis = stack.use(await startTestRedis());
  const principalKey = await writeKey(path.join(folder, 'principal.json'));
  const receiptKeyFile = options.receiptKeyFile ?? path.join(folder, 'receipt.json');
  if (!options.receiptKeyFile) await writeKey(receiptKeyFile);
  const tokenKeysFile = path.join(folder, 'access-token-signing.jwks.json');
  const tokenKeys = await createTokenKeys(tokenKeysFile);
  const secondFactorKeys = path.join(folder, 'second-factor.jwks.json');
  const octets = { kty: 'oct', kid: 'test', k: randomBytes(32).toString('base64url') };
  writeFileSync(secondFactorKeys, JSON.stringify({ keys: [octets] }), { mode: 0o600 });
  const logLines: string[] = [];
  const clock = { now: options.now ?? new Date('2026-11-21T12:00:00.000Z') };
  const own = identities['auth-server'];
  const app = stack.use(
    await createApp(
      readConfiguration({
        HEALTH_LISTEN: '127.0.0.1:0',
        GRPC_LISTEN: '127.0.0.1:0',
        TLS_CA: own.ca,
        TLS_CERT: own.cert,
        TLS_KEY: own.key,
        ...awayAddresses('auth-server'),
        DATABASE_URL: options.databaseUrl ?? database.url,
        REDIS_URL: options.redisUrl ?? redis.url,
        PRINCIPAL_PRIVATE_KEY: path.join(folder, 'principal.json'),
        RECEIPT_SIGNING_KEY: receiptKeyFile,
        ACCESS_TOKEN_SIGNING_KEYS: tokenKeysFile,
        SECOND_FACTOR_KEYS: secondFactorKeys,
        HTTP_LISTEN: options.ownUrl === undefined ? '127.0.0.1:0' : new URL(options.ownUrl).host,
        TRUSTED_PROXIES: '127.0.0.1/32',
        BASE_URL: options.ownUrl ?? baseUrl,
        MAIL_FOLDER: path.join(folder, 'mail'),
        ...(options.mailUrl !== undefined && { MAIL_URL: options.mailUrl }),
        API_URL: 'http://api.test',
        MCP_URL: 'http://mcp.test',
      }),
      createLogger('auth-server', 'debug', { write: (line) => void logLines.push(line) }),
      { clock: () => clock.now, ...(options.fetchDocument && { fetchDocument: options.fetchDocument }) },
    ),
  );
  const clientsOf = (name: Exclude<(typeof names)[number], 'auth-server'>) => {
    const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'auth-server', readTls(identities[name]));
    stack.defer(() => channel.close());
    return {
      accounts: channel.client(AccountServiceService),
      clients: channel.client(ClientServiceService),
      credentials: channel.client(CredentialServiceService),
      machineTokens: channel.client(MachineTokenServiceService),
      commands: channel.client(CommandServiceService),
      resources: channel.client(ResourceServiceService),
      receipts: channel.client(ReceiptServiceService),
    };
  };
  const clients = {
    gateway: clientsOf('rest-gateway'),
    operator: clientsOf('operator'),
    management: clientsOf('management'),
    sink: clientsOf('analytics-sink'),
  };

  /** Sends an identity command as the operator; answers the resource. */
  async function send(
    workspaceId: string,
    commandType: string,
    changes: object,
    options: { readonly subjectId?: string; readonly key?: string } = {},
  ) {
    const response = await clients.operator.commands.execute(
      {
        workspaceId,
        commandType,
        idempotencyKey: options.key ?? newId('req'),
        ifMatch: '',
        subjectType: `${commandType.split('.')[0]}s`,
        subjectId: options.subjectId ?? '',
        subjectVersion: undefined,
        changesJson: JSON.stringify(changes),
        reasonJson: '',
      },
      {},
    );
    return {
      ...response,
      operation: JSON.parse(response.operationJson) as { id: string; state: string },
      resource: JSON.parse(response.resourceJson) as {
        id: string;
        version: number;
        attributes: Record<string, unknown>;
      },
    };
  }

  const verify = async (credential: string, api: Api = Api.REST, carrier: Carrier = Carrier.HEADER) =>
    (await clients.gateway.credentials.verify({ credential, api, carrier }, {})).outcome;
  const owned = stack.move();
  return {
    app,
    mailFolder: path.join(folder, 'mail'),
    clients,
    clock,
    database,
    redis,
    logLines,
    receiptKeyFile,
    principalKey,
    tokenKeys,
    send,
    verify,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type AuthServerUnderTest = Awaited<ReturnType<typeof startAuthServer>>;
