#!/usr/bin/env node
// usage (cwd = apps/web, after a build): node tools/stand-in.mjs [port] → the built pages with the answers of tests/answers.json in place of a fleet
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const dist = path.resolve(import.meta.dirname, '../dist');
const answersFiles = [
  'answers.json',
  'answers-ads.json',
  'answers-decisions.json',
  'answers-finance.json',
  'answers-setup.json',
].map((file) => path.resolve(import.meta.dirname, '../tests', file));
const types = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };

/** The policy of the pages, as the gateway sends it. */
const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; frame-src 'self'",
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
].join('; ');

/** Peaks of an encoder, as of somebody who speaks: louder and softer, with a pause now and then. */
function peaks() {
  const loudness = (at) => 18 + 60 * Math.abs(Math.sin(at / 97) * Math.sin(at / 11.3)) * (at % 53 < 3 ? 0.1 : 1);
  const data = Array.from({ length: 7230 }, (_, at) => Math.round(loudness(at >> 1) * (at % 2 === 0 ? -1 : 1)));
  return JSON.stringify({ version: 2, bits: 8, sample_rate: 48_000, samples_per_pixel: 38_400, length: 3615, data });
}

function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://stand-in');
  if (pathname.endsWith('/changes')) {
    // Nothing changes here; the stream stays open.
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    return response.write(': open\n\n');
  }
  if (pathname === '/stored/peaks.json')
    return response.writeHead(200, { 'Content-Type': 'application/json' }).end(peaks());
  if (/^\/(api|management)\/v1\//.test(pathname)) {
    const answers = answersFiles.map((file) => JSON.parse(readFileSync(file, 'utf8')));
    const found = Object.assign({}, ...answers)[pathname.replace('/api/v1', '')];
    const { status = 200, body } = found ?? { status: 404, body: { code: 404, message: 'There is no such thing.' } };
    const total = Array.isArray(body) ? { 'X-Total-Count': String(body.length) } : {};
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req_stand_in', ...total });
    // The page of a podcast stands in for that of the media host.
    const here = `http://${request.headers.host}/site/`;
    return response.end(JSON.stringify(body).replaceAll('https://media.example/site/', here));
  }
  if (pathname.startsWith('/site/')) {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    return response.end(
      '<!doctype html><html lang="en"><title>Page</title><link rel="icon" href="data:,"><p>The page of the podcast</p></html>',
    );
  }
  const file = path.join(dist, path.normalize(pathname));
  if (pathname.startsWith('/assets/')) {
    if (!existsSync(file)) return response.writeHead(404).end();
    // As the gateway: a browser loads and compiles each file once.
    const kept = 'public, max-age=31536000, immutable';
    const type = types[path.extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'Content-Type': type, 'Cache-Control': kept });
    return createReadStream(file).pipe(response);
  }
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy });
  return createReadStream(path.join(dist, 'index.html')).pipe(response);
}

/** Listens on a port of this machine; 0 takes a free one. Resolves with the server. */
export const startStandIn = (port) =>
  new Promise((resolve) => {
    const server = createServer(answer).listen(port, '127.0.0.1', () => resolve(server));
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const server = await startStandIn(Number(process.argv[2] ?? 4173));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
