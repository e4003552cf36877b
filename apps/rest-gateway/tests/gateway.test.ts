import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fixtures, startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => gateway.reset());

describe('rate limits', () => {
  test('a credential over its limit gets the literal body and the headers, and the next minute is free again', async () => {
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await gateway.get('/account', 'slow')).status);
    expect(statuses).toEqual([200, 200, 429]);
    const throttled = await gateway.get('/account', 'slow');
    expect(await throttled.text()).toBe('Throttled');
    expect(Object.fromEntries(throttled.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'ratelimit-limit': '2',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '1795262460',
      'retry-after': '30',
    });
    gateway.clock.now = new Date(gateway.clock.now.getTime() + 30_000);
    expect((await gateway.get('/account', 'slow')).status).toBe(200);
  });

  test('a command that has a limit of its own is refused like a request too many, with its own time to wait', async () => {
    const podcast = fixtures['podcast_published']!;
    gateway.scene.given = {
      commands: { 'podcast.unpublish': [{ problem: { code: 'rate_limited', retryAfterSeconds: 1_800 } }] },
    };
    const refused = await gateway.post(`/podcasts/${podcast.id}/unpublish`, {});
    expect([refused.status, await refused.text()]).toEqual([429, 'Throttled']);
    expect([refused.headers.get('ratelimit-remaining'), refused.headers.get('retry-after')]).toEqual(['0', '1800']);
  });

  test('a rotated key continues the counters of the one before', async () => {
    for (const credential of ['slow', 'rotated']) expect((await gateway.get('/account', credential)).status).toBe(200);
    expect((await gateway.get('/account', 'rotated')).status).toBe(429);
    expect((await gateway.get('/account', 'slow')).status).toBe(429);
  });

  test('upload URLs have a bucket of their own', async () => {
    const sign = () =>
      gateway.post('/uploads/complete_multipart_url', { upload_key: 'k', multipart_upload_id: 'm' }, 'slow');
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await sign()).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await gateway.get('/account', 'slow')).status).toBe(200);
  });

  test('a legacy token has one bucket for everything', async () => {
    expect((await gateway.post('/uploads', {}, 'legacy_read')).headers.get('ratelimit-remaining')).toBe('119');
    expect((await gateway.get('/account', 'legacy_read')).headers.get('ratelimit-remaining')).toBe('118');
  });

  test('a hundred requests at once are counted one by one', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => gateway.get('/account')));
    const remaining = answers.map((answer) => Number(answer.headers.get('ratelimit-remaining'))).sort((a, b) => a - b);
    expect(remaining).toEqual(Array.from({ length: 100 }, (_, i) => 200 + i));
  });

  test('a counter without a time to live gets one, so that none stays for ever', async () => {
    await gateway.get('/account', 'slow');
    const [key] = await gateway.redis.keys('rate:*');
    await gateway.redis.persist(key!);
    await gateway.get('/account', 'slow');
    expect(await gateway.redis.ttl(key!)).toBeGreaterThan(0);
  });

  test('a browser session is never throttled, and its answers name no limit', async () => {
    const answers = await Promise.all(Array.from({ length: 400 }, () => gateway.get('/account', 'session')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await gateway.redis.keys('rate:*')).toEqual([]);
  });

  test('every answer to a counted credential carries the limit: refusals, wrong methods and unknown routes too', async () => {
    for (const [method, path] of [
      ['GET', '/nothing'],
      ['PATCH', '/podcasts'],
      ['POST', '/podcasts'],
      ['DELETE', `/podcasts/${fixtures['podcast_foreign']!.id}`],
    ] as const) {
      const response = await fetch(`${gateway.url}/api/v1${path}`, { method, headers: { Token: 'owner' } });
      expect([path, response.headers.get('ratelimit-limit')]).toEqual([path, '300']);
      expect(response.headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
      expect(response.headers.get('ratelimit-reset')).toMatch(/^\d+$/);
    }
  });

  test('a throttled request is throttled even when its token may only read', async () => {
    for (let i = 0; i < 120; i++) await gateway.get('/account', 'legacy_read');
    expect((await gateway.post('/podcasts', {}, 'legacy_read')).status).toBe(429);
  });
});

describe('browsers', () => {
  const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' };

  test('a preflight without a credential is 204 and names what may be sent', async () => {
    const response = await fetch(`${gateway.url}/api/v1/podcasts`, { method: 'OPTIONS', headers: preflight });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain('PUT');
    expect(response.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Token.*Idempotency-Key/);
  });

  test('an OPTIONS request with a read-only token stays 403', async () => {
    const headers = { ...preflight, Token: 'legacy_read' };
    const response = await fetch(`${gateway.url}/api/v1/podcasts`, { method: 'OPTIONS', headers });
    expect([response.status, await response.json()]).toEqual([403, { code: 403, message: 'This token is read-only.' }]);
  });

  test('every answer may be read by a page of any origin, with the name of its request', async () => {
    for (const token of ['owner', 'unknown']) {
      const response = await fetch(`${gateway.url}/api/v1/podcasts`, {
        headers: { origin: 'https://page.example', token },
      });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    }
  });
});

describe('bodies', () => {
  const padded = (bytes: number) => {
    const empty = JSON.stringify({ title: '' });
    return JSON.stringify({ title: 'x'.repeat(bytes - empty.length) });
  };
  const send = (body: string) =>
    fetch(`${gateway.url}/api/v1/podcasts`, {
      method: 'POST',
      headers: { Token: 'owner', 'content-type': 'application/json' },
      body,
    });

  test('one MiB is read, one byte more is 413', async () => {
    expect((await send(padded(1_048_576))).status).toBe(422);
    const refused = await send(padded(1_048_577));
    expect([refused.status, await refused.json()]).toEqual([
      413,
      { code: 413, message: 'The body is larger than 1 MiB.' },
    ]);
  });

  test('a body that is not UTF-8 is 400, never silently changed', async () => {
    const send = (type: string, body: Buffer) =>
      fetch(`${gateway.url}/api/v1/podcasts`, {
        method: 'POST',
        headers: { authorization: 'Bearer owner', 'content-type': type },
        body,
      });
    const text = { code: 400, message: 'The body is not valid UTF-8.' };
    for (const [type, body] of [
      ['application/json', Buffer.from('{"title":"\xff"}', 'latin1')],
      ['application/x-www-form-urlencoded', Buffer.from('title=\xff', 'latin1')],
      ['application/x-www-form-urlencoded', Buffer.from('title=%FF')],
    ] as const)
      expect(await (await send(type, body)).json()).toEqual(text);
  });

  test('names of built-in properties are unknown fields like any other', async () => {
    const response = await gateway.post('/podcasts', { title: 'T', language: 'en', constructor: 1 });
    expect(await response.json()).toEqual({ code: 422, message: 'There is no field “constructor”.' });
  });

  test('a name of Object.prototype is an unknown field in a query, a form and JSON', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const read = await gateway.get(`/podcasts?${name}=1`);
      expect([name, await read.json()]).toEqual([name, { code: 422, message: `There is no field “${name}”.` }]);
      const form = await fetch(`${gateway.url}/api/v1/podcasts`, {
        method: 'POST',
        headers: { Token: 'owner', 'content-type': 'application/x-www-form-urlencoded' },
        body: `title=T&language=en&${name}=1`,
      });
      expect([name, await form.json()]).toEqual([name, { code: 422, message: `There is no field “${name}”.` }]);
    }
    const nested = await send('{"title":"T","language":"en","__proto__":{"explicit":true}}');
    expect([nested.status, gateway.scene.commands]).toEqual([422, []]);
  });

  test('a form has 1000 fields at most', async () => {
    const form = (fields: number) =>
      fetch(`${gateway.url}/api/v1/podcasts`, {
        method: 'POST',
        headers: { Token: 'owner', 'content-type': 'application/x-www-form-urlencoded' },
        body: Array.from({ length: fields }, () => 'title=T').join('&'),
      });
    expect((await form(1_000)).status).toBe(422);
    expect((await form(1_001)).status).toBe(413);
  });

  /** A POST whose body is sent in chunks, without a content type. */
  const chunked = (path: string, text: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { Token: 'owner', 'transfer-encoding': 'chunked' };
      request(`${gateway.url}/api/v1${path}`, { method: 'POST', headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
      })
        .once('error', reject)
        .end(text);
    });

  test('an empty body in chunks is no body, and needs no content type', async () => {
    await gateway.reset({ commands: { 'podcast.publish': [{ resource: 'podcast_published' }] } });
    const path = `/podcasts/${fixtures['podcast_published']!.id}/publish`;
    expect(await chunked(path, '')).toBe(200);
    expect(await chunked(path, '{}')).toBe(415);
    expect(await chunked(path, ' '.repeat(3_000_000))).toBe(415);
  });
});

describe('uploads', () => {
  const grant = () => gateway.post('/uploads', { filename: 'one.wav', idempotency_key: 'show:1' });

  test('a retry gets the same grant while it is valid, and afterwards a fresh URL for the same file', async () => {
    await gateway.reset({
      commands: { 'upload.grant': [{ resource: 'upload' }, ...Array(2).fill({ resource: 'upload', replayed: true })] },
    });
    const first = (await (await grant()).json()) as Record<string, string>;
    expect(await (await grant()).json()).toEqual(first);
    await gateway.redis.del(`upload_url:${fixtures['upload']!.id}`);
    const later = (await (await grant()).json()) as Record<string, string>;
    expect(later['file_url']).toBe(first['file_url']);
    expect(later['upload_url']).not.toBe(first['upload_url']);
  });

  test('ten grants at once under one key answer one and the same URL', async () => {
    const replayed = Array(9).fill({ resource: 'upload', replayed: true });
    await gateway.reset({ commands: { 'upload.grant': [{ resource: 'upload' }, ...replayed] } });
    const answers = await Promise.all(Array.from({ length: 10 }, async () => (await grant()).text()));
    expect(new Set(answers).size).toBe(1);
  });

  test('a file that is no longer awaited has no URL, even while the old one is cached', async () => {
    const commands = { 'upload.grant': [{ resource: 'upload' }, { resource: 'upload', replayed: true }] };
    await gateway.reset({ commands });
    expect((await grant()).status).toBe(201);
    gateway.scene.given = { commands, states: { upload: 'received' }, sign: { problem: 'validation_failed' } };
    expect((await grant()).status).toBe(422);
  });
});

describe('what management receives', () => {
  test('a write without a key has one of its own, and If-Match names the version', async () => {
    await gateway.reset({ commands: { 'podcast.publish': Array(3).fill({ resource: 'podcast_published' }) } });
    const path = `/podcasts/${fixtures['podcast_published']!.id}/publish`;
    await gateway.post(path, {});
    await gateway.post(path, {});
    await gateway.post(path, {}, 'owner', { 'if-match': '"7.0123456789abcdef"' });
    const [first, second, guarded] = gateway.scene.commands;
    expect(first!.idempotencyKey).not.toBe(second!.idempotencyKey);
    expect(first).toMatchObject({
      ifMatch: '',
      subjectVersion: undefined,
      workspaceId: '',
    });
    expect(guarded).toMatchObject({ ifMatch: '"7.0123456789abcdef"', subjectVersion: 7 });
  });

  describe('a write to an object', () => {
    const { id } = fixtures['podcast_published']!;
    const publish = (credential?: string) => gateway.post(`/podcasts/${id}/publish`, {}, credential);
    const accepted = { commands: { 'podcast.publish': [{ resource: 'podcast_published' }] } };
    const repeated = { commands: { 'podcast.publish': [{ resource: 'podcast_published', replayed: true }] } };

    test('that is accepted is one call: the command decides what the sender may do', async () => {
      await gateway.reset(accepted);
      expect((await publish()).status).toBe(200);
      expect(gateway.scene.deadlines).toHaveLength(1);
    });

    test('that is refused is refused in the order of checks: 404, 403, 422, 412, 409', async () => {
      const refused = { commands: { 'podcast.publish': [{ problem: { code: 'version_conflict' } }] } } as const;
      const gone = { states: { podcast_published: 'archived' } };
      const answers: [number, object, string?][] = [
        [412, refused],
        [403, refused, 'viewer'],
        [404, refused, 'stranger'],
        [404, { ...refused, ...gone }],
        [404, { ...refused, ...gone }, 'viewer'],
      ];
      for (const [status, given, credential] of answers) {
        await gateway.reset(given);
        expect((await publish(credential)).status).toBe(status);
        expect((await gateway.post(`/podcasts/${id}/publish`, { x: 1 }, credential)).status).toBe(
          status === 412 ? 422 : status,
        );
      }
    });

    test('that was answered before is answered only to those who may still send it, and not for an object that is gone', async () => {
      await gateway.reset(repeated);
      expect((await publish()).status).toBe(200);
      await gateway.reset(repeated);
      expect((await publish('viewer')).status).toBe(403);
      await gateway.reset({ ...repeated, states: { podcast_published: 'archived' } });
      expect((await publish()).status).toBe(404);
    });
  });

  test.each(['initial', 'encoding', 'encoded', 'error'])(
    'the answer of a GET may be put back, whatever it shows: a production that is %s stays as it is',
    async (state) => {
      const path = `/productions/${fixtures[`production_${state}`]!.id}`;
      const shown = await (await gateway.get(path)).json();
      const answer = await fetch(`${gateway.url}/api/v1${path}`, {
        method: 'PUT',
        headers: { Token: 'owner', 'content-type': 'application/json' },
        body: JSON.stringify(shown),
      });
      expect([answer.status, await answer.json()]).toEqual([200, shown]);
      expect(gateway.scene.commands).toEqual([]);
    },
  );

  test('every call of one request has the same deadline: 15 s, of a start 25 s', async () => {
    const started = fixtures['production_initial']!.id;
    for (const [path, seconds] of [
      [`/podcasts/${fixtures['podcast_published']!.id}/publish`, 15],
      [`/productions/${started}/start`, 25],
    ] as const) {
      const resource = path.startsWith('/podcasts') ? 'podcast_published' : 'production_encoding';
      await gateway.reset({ commands: { 'podcast.publish': [{ resource }], 'production.start': [{ resource }] } });
      const sentAt = Date.now();
      // Which of two versions is meant can only be told by the object.
      await gateway.post(path, {}, 'owner', { 'if-match': '"7.0123456789abcdef", "8.0123456789abcdef"' });
      const ends = gateway.scene.deadlines.map((deadline) => deadline.getTime());
      expect(ends).toHaveLength(2);
      expect(Math.min(...ends) - sentAt).toBeGreaterThanOrEqual(seconds * 1000 - 100);
      expect(Math.max(...ends) - Date.now()).toBeLessThanOrEqual(seconds * 1000 + 100);
    }
  });

  test('a list whose resources are too large for one message is read in smaller pages', async () => {
    const whole = await (await gateway.get('/podcasts')).json();
    await gateway.reset({ maxPageSize: 5 });
    expect(await (await gateway.get('/podcasts')).json()).toEqual(whole);
    await gateway.reset({ maxPageSize: 1 });
    expect((await gateway.get('/podcasts')).status).toBe(500);
  });

  test('HEAD answers as GET without a body', async () => {
    const response = await fetch(`${gateway.url}/api/v1/podcasts`, {
      method: 'HEAD',
      headers: { Token: 'legacy_read' },
    });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});

test('bytes that are not HTTP are refused in the shape of every other refusal', async () => {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.end('nonsense\r\n\r\n');
  const [head, body] = Buffer.concat((await socket.toArray()) as Buffer[])
    .toString()
    .split('\r\n\r\n');
  expect(head).toContain('content-type: application/json; charset=utf-8');
  expect(JSON.parse(body!)).toEqual({ code: 400, message: 'The request is not valid HTTP.' });
});

test('a request whose target names another host gets no address of that host', async () => {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  const target = 'http://elsewhere.example/api/v1/podcasts?per_page=1';
  socket.write(`GET ${target} HTTP/1.1\r\nHost: longwave.test\r\nToken: owner\r\nConnection: close\r\n\r\n`);
  const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
  expect(answer).toMatch(/^HTTP\/1.1 200 .*\r\nlink: </is);
  expect(answer).not.toContain('elsewhere');
});

test('a wrong key that comes twenty times is looked up once, and each answer is the same 401', async () => {
  const answers = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const answer = await gateway.get('/account', 'wrong-key');
    answers.add(`${answer.status} ${answer.headers.get('www-authenticate')} ${await answer.text()}`);
  }
  expect([...answers]).toEqual([
    '401 Bearer {"code":401,"message":"You are not authorized to access this area.","reason":"unknown_user"}',
  ]);
  expect(gateway.scene.verified).toBe(1);
  expect((await gateway.get('/account', 'owner')).status).toBe(200);
});

test('no credential and no signature reaches the log', async () => {
  await gateway.get('/account', `lw_key_${'s'.repeat(43)}`);
  await gateway.get('/account', 'owner');
  expect(gateway.logLines.join('')).not.toMatch(/sssss|statement-of-owner/);
  expect(gateway.logLines.some((line) => line.includes('"event":"request.served"'))).toBe(true);
});
