import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { takeCaptions } from '../src/exchange/content/take-captions.ts';
import { sha256Of } from './_exchange.ts';
import { startTestManagement, type TestManagement } from './_management.ts';

const vtt = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello.\n';
const languages = Array.from({ length: 20 }, (_, n) => `${String.fromCodePoint(97 + n)}a`);

let management: TestManagement;
let origin: string;
/** Requests that the host has not answered. */
const open: ServerResponse[] = [];
let asked = 0;
let answer = (): void => undefined;
const host = createServer((_request, response) => {
  asked += 1;
  open.push(response);
  answer();
});
beforeAll(async () => {
  management = await startTestManagement();
  await new Promise<void>((listening) => host.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
});
afterAll(async () => {
  host.closeAllConnections();
  await new Promise((closed) => host.close(closed));
  await management[Symbol.asyncDispose]();
});
beforeEach(() => {
  open.length = 0;
  asked = 0;
});

const take = (limits?: { readonly eachMs: number; readonly allMs: number }) =>
  takeCaptions(
    { fetch: createGuardedFetch({ allowOrigins: [origin] }), store: management.store },
    languages.map((lang) => ({ lang, url: `${origin}/${lang}.vtt`, digest: `sha256:${sha256Of(vtt)}` })),
    new AbortController().signal,
    limits,
  );

test('the captions of a version are fetched four at a time, and keep their order', async () => {
  const together: number[] = [];
  // A host that answers only when four files are asked of it, the last one first.
  answer = () => {
    if (open.length < 4) return;
    together.push(open.length);
    for (const response of open.splice(0).reverse()) response.end(vtt);
  };
  const { transcripts, notes } = await take();
  expect(notes).toEqual([]);
  expect(transcripts.map(({ language }) => language)).toEqual(languages);
  expect(together).toEqual([4, 4, 4, 4, 4]);
});

test('captions of a host that does not answer are noted when the time of all is over, and the last ones are not asked for', async () => {
  answer = () => undefined;
  const { transcripts, notes } = await take({ eachMs: 150, allMs: 300 });
  expect(transcripts).toEqual([]);
  expect(notes.map(({ code }) => code)).toEqual(languages.map(() => 'captions_not_fetchable'));
  expect(notes.at(-1)!.detail).toContain('took all the time');
  expect(asked).toBeLessThan(languages.length);
});
