import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ifNoneMatchNames } from '@longwave/http-kit';
import { isConsolePath } from '@longwave/services';
import { Router, type Request, type Response } from 'express';
import { contentType } from 'mime-types';
import { consoleHeaders, type ConsoleHosts } from './console-headers.ts';

/** The built console, and the hosts that its pages speak with. */
export interface ConsoleBuild extends ConsoleHosts {
  /** Has `index.html` and `assets`; undefined where this installation has no console. */
  readonly folder: string | undefined;
}

const isRead = ({ method }: Request) => method === 'GET' || method === 'HEAD';

/** Whether a person opens the address, and no script, picture or program: Fetch Metadata, or `Accept` where a browser does not send it. */
function isNavigation(request: Request): boolean {
  const destination = request.get('sec-fetch-dest');
  if (destination !== undefined) return destination === 'document';
  return /\btext\/html\b/i.test(request.get('accept') ?? '');
}

/** What the system says of a name that no file has. */
const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as { readonly code?: string } | undefined)?.code ?? '');

/** The page, read anew each time: its scripts are those of the files beside it. Undefined while there is no build. */
const readPage = (folder: string) =>
  readFile(path.join(folder, 'index.html')).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

async function sendPage(
  request: Request,
  response: Response,
  folder: string,
  headers: Readonly<Record<string, string>>,
) {
  const page = await readPage(folder);
  if (!page) return false;
  const etag = `"${createHash('sha256').update(page).digest('hex').slice(0, 32)}"`;
  response.set({ ...headers, 'Cache-Control': 'no-cache', Vary: 'Accept, Sec-Fetch-Dest', ETag: etag });
  if (ifNoneMatchNames(request.get('if-none-match'), etag)) response.status(304).end();
  else {
    response.set({ 'Content-Type': 'text/html; charset=utf-8', 'Content-Length': String(page.length) });
    response.end(request.method === 'HEAD' ? undefined : page);
  }
  return true;
}

/** Names as builds make them; no segment begins with a dot. */
const assetName = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

/** The forms in which an asset may be stored beside the plain one, the smallest first. */
const storedEncodings = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
] as const;

/** Sends a file with its conditions and ranges. Answers false when it is not there, and then nothing is sent. */
function sendStored(response: Response, root: string, name: string, headers: Readonly<Record<string, string>>) {
  return new Promise<boolean>((resolve, reject) => {
    response.sendFile(name, { root, headers, cacheControl: false }, (error?: Error) => {
      if (isMissing(error)) resolve(false);
      // An answer that has begun, or whose client has gone, ends as it is.
      else if (!error || response.headersSent || response.destroyed) resolve(true);
      else reject(error);
    });
  });
}

/** Sends a file of the build for ever: its name changes with its content. Answers false when there is none. */
async function sendAsset(request: Request, response: Response, folder: string): Promise<boolean> {
  const name = request.path.slice(1);
  if (!assetName.test(name)) return false;
  const headers = {
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Content-Type': contentType(path.extname(name)) || 'application/octet-stream',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
  };
  for (const { encoding, ending } of storedEncodings)
    if (request.acceptsEncodings(encoding)) {
      const packed = { ...headers, 'Content-Encoding': encoding };
      if (await sendStored(response, folder, `${name}${ending}`, packed)) return true;
    }
  return sendStored(response, folder, name, headers);
}

/**
 * Serves the build of the console: its page to whoever opens a path that is the console's, and the files below `/assets`. Everything else,
 * and everything while there is no build, goes on to the next handler.
 */
export function serveConsole({ folder, ...hosts }: ConsoleBuild): Router {
  const router = Router();
  if (folder === undefined) return router;
  const headers = consoleHeaders(hosts);
  router.use('/assets', async (request, response, next) => {
    if (!isRead(request) || !(await sendAsset(request, response, path.join(folder, 'assets')))) next();
  });
  router.use(async (request, response, next) => {
    const isPage = isRead(request) && isConsolePath(request.path) && isNavigation(request);
    if (!isPage || !(await sendPage(request, response, folder, headers))) next();
  });
  return router;
}
