/** The honest baseline of the request rows: one bare express route that answers the same bytes and nothing else. */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';

const body = readFileSync(process.argv[2]!);
const etag = '"baseline"';
const app = express().disable('x-powered-by').disable('etag');
app.get('/', (request, response) => {
  response.set({ ETag: etag, 'Content-Type': 'application/json; charset=utf-8' });
  if (request.get('if-none-match') === etag) response.status(304).end();
  else response.send(body);
});
const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
