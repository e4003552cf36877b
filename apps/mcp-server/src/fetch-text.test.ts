import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fetchText } from './fetch-text.ts';

const asked: string[] = [];
const answers: Readonly<Record<string, RequestListener>> = {
  '/text': (_request, response) => response.end('a text'),
  '/moved': (_request, response) => response.writeHead(302, { location: '/secret' }).end(),
  '/secret': (_request, response) => response.end('for this network alone'),
  '/missing': (_request, response) => response.writeHead(404).end('no'),
  '/endless': (_request, response) => {
    const more = () => {
      while (response.write('a'.repeat(65_536)));
      response.once('drain', more);
    };
    more();
  },
};
const server = createServer((request, response) => {
  asked.push(request.url!);
  answers[request.url!]!(request, response);
});
let root: string;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a text is read as it is', async () => {
  expect(await fetchText(`${root}/text`, 'text/vtt')).toEqual({ mimeType: 'text/vtt', text: 'a text' });
});

test('no redirect is followed: the address behind it is never asked', async () => {
  await expect(fetchText(`${root}/moved`, 'text/vtt')).rejects.toMatchObject({ code: 'not_found' });
  expect(asked).not.toContain('/secret');
});

test('a text that is not there does not exist', async () => {
  await expect(fetchText(`${root}/missing`, 'text/vtt')).rejects.toMatchObject({ code: 'not_found' });
});

test('of a text without an end no more than 16 MiB are read', async () => {
  await expect(fetchText(`${root}/endless`, 'text/vtt')).rejects.toMatchObject({ code: 'payload_too_large' });
});
