import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jwtVerify } from 'jose';

/** A request as Apple's stand-in got it. */
interface Asked {
  readonly what: string;
  readonly key: string | undefined;
  readonly token: string;
  readonly body: string;
}

type State = 'PENDING' | 'ACCEPTED' | 'REJECTED' | 'WITHDRAWN';
interface Held {
  readonly id: string;
  readonly externalKey: string;
  readonly playlistUrl: string;
  state: State;
}

/**
 * What it does with the next request: `take` answers as it should; `silence`, `error`, `garbage` and `cut` take the request and then do not
 * answer, answer 500, something else than JSON, or break the connection; the others take nothing.
 */
type Manner = 'take' | 'silence' | 'error' | 'garbage' | 'cut' | 'refuse' | 'busy' | 'fail' | 'stranger';

/**
 * The stand-in of Apple's interface for hosts: it takes what docs/platforms.md#what-is-assumed says, under tokens that its public key
 * verifies, and keeps each submission by its key. There is no public documentation that it could follow.
 */
export async function startApple() {
  const folder = mkdtempSync(path.join(tmpdir(), 'apple-'));
  const keyFile = path.join(folder, 'AuthKey_K1.p8');
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(keyFile, pem, { mode: 0o600 });
  const held = new Map<string, Held>();
  const asked: Asked[] = [];
  const manners: Manner[] = [];
  const world = { state: 'PENDING' as State, reason: 'The pictures are smaller than 720p.' };

  function answer(response: ServerResponse, status: number, body: unknown, headers = {}): void {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }
  const shown = ({ id, state, externalKey, playlistUrl }: Held) => ({
    data: {
      ...{ type: 'hostedVideoSubmissions', id },
      attributes: { externalKey, playlistUrl, state, ...(state === 'REJECTED' && { reason: world.reason }) },
    },
    meta: { requestId: `req-${asked.length}` },
  });
  const none = { errors: [{ status: '404', detail: 'There is no such submission.' }] };

  function take(what: string, key: string | undefined, body: string): readonly [number, unknown] {
    const id = decodeURIComponent(what.split('/')[3] ?? '');
    if (what.startsWith('GET')) {
      const found = held.get(id);
      return found ? [200, shown(found)] : [404, none];
    }
    if (what.endsWith('/withdrawal')) {
      const found = held.get(id);
      if (!found) return [404, none];
      found.state = 'WITHDRAWN';
      return [200, shown(found)];
    }
    const { externalKey, playlistUrl } = JSON.parse(body).data.attributes as Held;
    if (externalKey !== key) return [422, { errors: [{ detail: 'Key and header differ.' }] }];
    const before = held.get(externalKey);
    if (before) return [409, shown(before)];
    const made = { id: `hvs-${held.size + 1}`, externalKey, playlistUrl, state: world.state };
    held.set(externalKey, made);
    return [201, shown(made)];
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const what = `${request.method} ${request.url}`;
    const key = request.headers['idempotency-key'] as string | undefined;
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    asked.push({ what, key, token, body });
    try {
      const { protectedHeader } = await jwtVerify(token, publicKey, {
        ...{ issuer: 'issuer-1', audience: 'appstoreconnect-v1', algorithms: ['ES256'], maxTokenAge: '20m' },
      });
      if (protectedHeader.kid !== 'K1') throw new Error('another key');
    } catch {
      return answer(response, 401, { errors: [{ detail: 'Not authorized.' }] });
    }
    const manner = manners.shift() ?? 'take';
    switch (manner) {
      case 'refuse':
        return answer(response, 422, { errors: [{ title: 'Invalid', detail: world.reason }] });
      case 'busy':
        return answer(response, 503, { errors: [{}] }, { 'retry-after': '7' });
      case 'fail':
        return answer(response, 500, { errors: [{}] });
      case 'stranger':
        return answer(response, 200, shown(foreign));
      default:
    }
    const [status, document] = take(what, key, body);
    if (manner === 'take') return answer(response, status, document);
    if (manner === 'error') return answer(response, 500, { errors: [{}] });
    if (manner === 'garbage') return void response.writeHead(200).end('<html>OK</html>');
    if (manner === 'cut') return void request.socket.destroy();
  }
  const foreign: Held = {
    id: 'hvs-9',
    externalKey: 'pls_of_somebody',
    playlistUrl: 'https://x.example/',
    state: 'ACCEPTED',
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(world, {
    ...{ origin, held, asked, manners, pem, keyFile },
    settings: {
      APPLE_PODCASTS_URL: `${origin}/`,
      APPLE_PODCASTS_ISSUER_ID: 'issuer-1',
      APPLE_PODCASTS_KEY_ID: 'K1',
      APPLE_PODCASTS_KEY_FILE: keyFile,
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

export type Apple = Awaited<ReturnType<typeof startApple>>;
