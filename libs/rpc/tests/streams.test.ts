import { expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import {
  AudienceServiceService,
  type ReadReportRequest,
  type ReadReportResponse,
} from '../src/generated/longwave/audience/v1/audience.ts';
import { openChannel, rpcService, serveRpc, type RpcContext, type Tls } from '../src/index.ts';
import { identities, cleanups } from './_support.ts';

const definition = { readReport: AudienceServiceService.readReport };
type Handler = (
  request: ReadReportRequest,
  context: RpcContext,
  send: (message: ReadReportResponse) => Promise<void>,
) => Promise<void>;

const request: ReadReportRequest = {
  ...{ workspaceId: 'ws_1', range: undefined, window: undefined, timeZone: '' },
  ...{ dimensions: [], metrics: [], filters: [], advertisers: [], lineItemTypes: [] },
};
const message = (key: string): ReadReportResponse => ({
  content: { $case: 'rows', value: { rows: [{ keys: [key], values: [1n] }] } },
});
const keyOf = ({ content }: ReadReportResponse) => (content?.$case === 'rows' ? content.value.rows[0]!.keys[0]! : '');

/** A service that streams with this handler, and its caller. */
async function stream(readReport: Handler, tls: Tls = identities.management) {
  const failures: unknown[] = [];
  const server = await serveRpc({
    listen: '127.0.0.1:0',
    tls: identities.analyticsSink,
    services: [rpcService(definition, { readReport: ['management'] }, { readReport })],
    onError: (error) => failures.push(error),
  });
  const channel = openChannel(`127.0.0.1:${server.port}`, 'analytics-sink', tls);
  cleanups.push(
    () => server.close(0),
    () => channel.close(),
  );
  return { failures, readReport: channel.client(definition).readReport };
}

async function readAll(messages: AsyncIterable<ReadReportResponse>): Promise<string[]> {
  const keys: string[] = [];
  for await (const one of messages) keys.push(keyOf(one));
  return keys;
}

test('the messages of a stream arrive whole, in order and with their end', async () => {
  const { readReport } = await stream(async ({ workspaceId }, { caller }, send) => {
    for (let nth = 0; nth < 300; nth++) await send(message(`${workspaceId} ${caller} ${nth}`));
  });
  expect(await readAll(readReport(request, {}))).toEqual(
    Array.from({ length: 300 }, (_, nth) => `ws_1 management ${nth}`),
  );
});

test('a stream that fails halfway rejects with the problem, after the messages before it', async () => {
  const { readReport, failures } = await stream(async (_request, _context, send) => {
    await send(message('first'));
    throw new Problem('validation_failed', 'Not this one.');
  });
  const messages = readReport(request, {})[Symbol.asyncIterator]();
  expect(keyOf((await messages.next()).value as ReadReportResponse)).toBe('first');
  await expect(messages.next()).rejects.toMatchObject({ code: 'validation_failed', message: 'Not this one.' });
  expect(failures).toEqual([]);
});

test('a service that is not on the allow-list gets no stream', async () => {
  const { readReport } = await stream(async () => undefined, identities.encoder);
  await expect(readAll(readReport(request, {}))).rejects.toMatchObject({ code: 'permission_denied' });
});

test('a sender waits for a slow reader, and learns when the reader has gone', async () => {
  let sent = 0;
  let ended: unknown;
  const large = message('x'.repeat(50_000));
  const { readReport, failures } = await stream(async (_request, _context, send) => {
    try {
      for (; sent < 2_000; sent++) await send(large);
    } catch (error) {
      ended = error;
      throw error;
    }
  });
  const messages = readReport(request, {})[Symbol.asyncIterator]();
  await messages.next();
  let before = -1;
  await until(async () => {
    const isStill = sent === before;
    before = sent;
    return isStill;
  });
  expect(sent).toBeLessThan(200);
  await messages.return!();
  await until(async () => ended !== undefined);
  expect(failures).toEqual([]);
});

test('a caller that gives up by its signal ends the stream with a problem', async () => {
  const { readReport } = await stream(async (_request, { signal }, send) => {
    await send(message('first'));
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
  });
  const controller = new AbortController();
  const messages = readReport(request, { signal: controller.signal })[Symbol.asyncIterator]();
  await messages.next();
  controller.abort();
  await expect(messages.next()).rejects.toBeInstanceOf(Problem);
  await expect(readAll(readReport(request, { signal: controller.signal }))).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
});
