import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { help, importLogCommands } from '../src/cli/import-log.ts';
import { runTool } from './_run-tool.ts';

const golden = path.resolve(import.meta.dirname, '../cases/prefix-log');

interface Report {
  readonly files: readonly {
    readonly judged: Record<string, number>;
    readonly malformed: number;
    readonly problems: readonly { line: number; problem: string }[];
    readonly columns: {
      readonly understood: readonly { field: string; column: string }[];
      readonly not_understood: readonly string[];
      readonly absent: readonly { field: string; effect: string }[];
    };
  }[];
  readonly prefix_requests: readonly { episode_id: string; prefix_requests: number; first_two: number }[];
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'log-formats-'));
  writeFileSync(path.join(folder, 'secret'), '0123456789abcdef'.repeat(4));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: string[]) {
  const secret = ['--secret-file', path.join(folder, 'secret')];
  return runTool({ commands: importLogCommands, help }, ['--report', ...secret, ...args, '--temp', folder]);
}
const ofHarbour = ['--podcast', 'pod_1', '--episodes', path.join(golden, 'episodes.csv')];

/** Reads a log of these lines and answers its report. */
async function read(lines: readonly string[], ...args: string[]) {
  const file = path.join(folder, 'log');
  writeFileSync(file, lines.join('\n'));
  const { code, out, err } = await run(file, '--json', ...(args.length > 0 ? args : ofHarbour));
  expect({ code, err }).toMatchObject({ code: 0 });
  const report = JSON.parse(out) as Report;
  return { ...report.files[0]!, counts: report.prefix_requests };
}

/** The error for an unreadable log. */
async function refusal(lines: readonly string[]) {
  const file = path.join(folder, 'log');
  writeFileSync(file, lines.join('\n'));
  const { code, out, err } = await run(file, ...ofHarbour);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  return err;
}

const agent = 'NovelPlayer/0.1';
const mp3 = '/audio/harbour/ep_1.mp3';

describe('oDL', () => {
  const events = path.join(golden, 'events.odl.avro');

  test('an Avro file of its own writer, with the name "oDL Events", ids or URLs of episodes and ranges in two columns', async () => {
    const { code, out } = await run(events, '--json', ...ofHarbour);
    expect(code).toBe(0);
    const { files, prefix_requests } = JSON.parse(out) as Report;
    expect(files[0]!.judged).toEqual({ eligible: 2, first_two: 2, method: 1, bot_ua: 1, probe: 1, unmatched_url: 1 });
    expect(prefix_requests).toMatchObject([
      { episode_id: 'ep_1', prefix_requests: 2, first_two: 1 },
      { episode_id: 'ep_2', prefix_requests: 1, first_two: 0 },
    ]);
    expect(files[0]!.columns).toMatchObject({
      understood: [
        { field: 'time', column: 'timestamp' },
        { field: 'episode_id', column: 'episode_id' },
        { field: 'method', column: 'http_method' },
        { field: 'range_start', column: 'byte_range_start' },
        { field: 'range_end', column: 'byte_range_end' },
        { field: 'ip_hash', column: 'encoded_ip' },
        { field: 'user_agent', column: 'user_agent' },
      ],
      not_understood: [],
    });
  });

  test('without a table of episodes, the ids of a log are episodes of --podcast', async () => {
    const { out } = await run(events, '--json', '--podcast', 'pod_7');
    const { prefix_requests } = JSON.parse(out) as Report;
    expect(prefix_requests.map((row) => row.episode_id)).toEqual(['ep_2', 'ep_unknown']);
  });

  test('raw events: JSON lines by their own names, and columns that are not understood are named', async () => {
    const event = {
      ...{ eventId: 'f7d4357d', city: 'woodridge', isByteRangeRequest: true, byteRangeStart: 0, byteRangeEnd: 1 },
      ...{ userAgent: agent, startedAt: '2019-07-22T22:59:59.987816349Z', enclosureUrl: `https://cdn.example${mp3}` },
      ...{ ipAddress: '2001:db8::1', method: 'GET' },
    };
    const { judged, columns } = await read([JSON.stringify(event)]);
    expect(judged).toEqual({ first_two: 1 });
    expect(columns.not_understood).toEqual(['city', 'eventId', 'isByteRangeRequest']);
  });
});

test('Amazon CloudFront: a range in sc-range-start and sc-range-end is a range, so that probes are probes', async () => {
  const names =
    'date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent) sc-range-start sc-range-end x-edge-location';
  const row = (ip: string, start: string, end: string) =>
    ['2025-11-02', '10:00:00', ip, 'GET', mp3, '206', agent, start, end, 'FRA2'].join('\t');
  const { judged, columns } = await read([
    '#Version: 1.0',
    `#Fields: ${names}`,
    row('192.0.2.1', '0', '1'),
    row('192.0.2.2', '7', '7'),
    row('192.0.2.3', '0', '499'),
    row('192.0.2.4', '500', '-'),
    row('192.0.2.5', '-', '-'),
  ]);
  expect(judged).toEqual({ first_two: 1, probe: 1, eligible: 3 });
  expect(columns.not_understood).toEqual(['x-edge-location']);
  expect(columns.understood).toContainEqual({ field: 'time', column: 'date' });
});

describe('the combined format of Apache and nginx', () => {
  const line = (ip: string, request: string, status: number, bytes: number | '-', userAgent: string) =>
    `${ip} - - [02/Nov/2025:10:00:00 +0100] "${request}" ${status} ${bytes} "https://harbour.example/" "${userAgent}"`;

  test('every line is a record: address, time, request, status, referrer and user agent', async () => {
    const { judged, malformed, problems, columns, counts } = await read([
      line('192.0.2.1', `GET ${mp3} HTTP/1.1`, 200, 5_000_000, agent),
      line('2001:db8::7', `GET ${mp3}?from=feed HTTP/2.0`, 206, 5_000, agent),
      line('192.0.2.2', `HEAD ${mp3} HTTP/1.1`, 200, 0, agent),
      line('192.0.2.3', `GET ${mp3} HTTP/1.1`, 404, 162, agent),
      line('192.0.2.4', `GET ${mp3} HTTP/1.1`, 200, '-', 'Feed\\x42ot/1.0 \\"x\\"'),
      line('192.0.2.5', 'GET /favicon.ico HTTP/1.1', 200, 10, agent),
      line('192.0.2.6', `GET ${mp3} HTTP/1.1`, 200, 10, '-'),
      `media.example:443 ${line('192.0.2.7', `GET ${mp3} HTTP/1.1`, 200, 10, agent)} "198.51.100.1"`,
      line('192.0.2.8', '-', 408, 0, '-'),
      'not a line at all',
    ]);
    expect(judged).toEqual({ eligible: 3, method: 1, status: 1, bot_ua: 1, unmatched_url: 1, no_ua: 1 });
    expect({ malformed, problems }).toEqual({
      malformed: 2,
      problems: [
        { line: 9, problem: 'url: missing' },
        { line: 10, problem: 'not in the combined format' },
      ],
    });
    expect(counts).toMatchObject([{ episode_id: 'ep_1', prefix_requests: 3 }]);
    expect(columns.understood.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['time', 'url', 'method', 'status', 'ip', 'user_agent', 'referer', 'body_bytes']),
    );
    expect(columns.not_understood).toEqual(['fields behind the user agent', 'identity', 'user']);
    expect(columns.absent).toContainEqual({
      field: 'range',
      effect: 'only answers of one or two bytes are recognized as probes',
    });
  });

  test('it has no range, so an answer of two bytes is taken for the probe', async () => {
    const { judged } = await read([
      line('192.0.2.1', `GET ${mp3} HTTP/1.1`, 206, 2, agent),
      line('192.0.2.2', `GET ${mp3} HTTP/1.1`, 206, 1, agent),
      line('192.0.2.3', `GET ${mp3} HTTP/1.1`, 206, 3, agent),
      line('192.0.2.4', `GET ${mp3} HTTP/1.1`, 200, 2, agent),
    ]);
    expect(judged).toEqual({ first_two: 1, probe: 1, eligible: 2 });
  });
});

test('status 000, which Akamai writes when the client leaves early, counts when it passes every other rule', async () => {
  const { judged, malformed } = await read([
    'time,url,ip,user_agent,status',
    `2025-11-02T10:00:00Z,${mp3},192.0.2.1,${agent},000`,
    `2025-11-02T10:00:00Z,${mp3},192.0.2.2,FeedBot/1,000`,
    `2025-11-02T10:00:00Z,${mp3},192.0.2.3,${agent},500`,
    `2025-11-02T10:00:00Z,${mp3},192.0.2.4,${agent},99`,
  ]);
  expect({ judged, malformed }).toEqual({ judged: { eligible: 1, bot_ua: 1, status: 1 }, malformed: 1 });
});

describe('a refusal never quotes the log', () => {
  const secrets = /192\.0\.2|2001:db8|NovelPlayer|Mozilla|ep_1|10:00/;

  test.each([
    ['spaces', `192.0.2.1 - - [02/Nov/2025:10:00:00 +0000] "GET ${mp3} HTTP/1.1" 200 5`],
    ['commas', `2025-11-02T10:00:00Z,${mp3},192.0.2.1,${agent}`],
    ['tabs', `1762077600\t2001:db8::1\tMozilla/5.0 (Linux)\t${mp3}`],
    ['pipes', `NovelPlayer|192.0.2.1|GET`],
  ])('a table without a header line, its values parted by %s', async (_, first) => {
    const said = await refusal([first, first]);
    expect(said).toMatch(/has no column for .*Its first line contains values instead of column names/);
    expect(said).not.toMatch(secrets);
  });

  test('but names columns that it does not know', async () => {
    expect(await refusal(['wann;was;cs(Foo-Bar);x_edge.name', '1;2;3;4'])).toMatch(
      /Its columns are wann, was, cs\(Foo-Bar\), x_edge\.name\. Say with --columns which of them it is/,
    );
  });
});

test('the report for people names the columns: how each was read, those not understood, and absent fields', async () => {
  const file = path.join(folder, 'log.csv');
  writeFileSync(file, `time,url,ip,user_agent,edge\n2025-11-02T10:00:00Z,${mp3},192.0.2.1,${agent},FRA\n`);
  const { out } = await run(file, ...ofHarbour);
  expect(out).toMatch(/^Columns$/m);
  expect(out).toMatch(/ip +ip$/m);
  expect(out).toMatch(/edge +not understood$/m);
  expect(out).toMatch(/\(none\) +range: probes of two bytes are counted as requests$/m);
  expect(out).toMatch(/\(none\) +status: requests that were answered with an error are counted too$/m);
});

test('a range with an end and no beginning is malformed', async () => {
  const { problems } = await read([
    'time,url,ip,user_agent,range_start,range_end',
    `2025-11-02T10:00:00Z,${mp3},192.0.2.1,${agent},,1`,
    `2025-11-02T10:00:00Z,${mp3},192.0.2.1,${agent},x,1`,
  ]);
  expect(problems).toEqual([
    { line: 2, problem: 'range_start: missing' },
    { line: 3, problem: 'range_start: not a whole number' },
  ]);
});
