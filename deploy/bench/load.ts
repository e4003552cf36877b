import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { findTool, type Tool } from './debian-tool.ts';

/** Measurements of a server under load. */
export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly p99Ms: number;
}

/** How the requests of a load differ from each other. */
export type Requests =
  /** Each in turn; "" asks for the whole. */
  | { readonly ranges: readonly string[] }
  /** Every request comes from a listener who was never seen before: from an address of its own, as a trusted proxy tells it. */
  | { readonly newListeners: true };

/** Each run has an app of its own, so that an address of 198.18.0.0/15 (RFC 2544, benchmarks) is a new listener in every run. */
let runs = 0;
const nextApp = () => `AntennaPod/3.${(runs += 1)}.0`;

const makers = (requests: Requests) =>
  'ranges' in requests
    ? `local ranges, n = {${requests.ranges.map((range) => JSON.stringify(range)).join(',')}}, 0
request = function()
  n = n % #ranges + 1
  local headers = {["User-Agent"] = "bench/1"}
  if ranges[n] ~= "" then headers["Range"] = ranges[n] end
  return wrk.format("GET", nil, headers)
end`
    : `local n = 0
request = function()
  n = (n + 1) % 131072
  local address = string.format("198.%d.%d.%d", 18 + math.floor(n / 65536), math.floor(n / 256) % 256, n % 256)
  return wrk.format("GET", nil, {["User-Agent"] = "${nextApp()}", ["X-Forwarded-For"] = address})
end`;

const summary = `
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('\\n@{"requests":%d,"bytes":%d,"seconds":%f,"p99":%f,"errors":%d}\\n', summary.requests,
    summary.bytes, summary.duration / 1e6, latency:percentile(99) / 1000, e.connect + e.read + e.write + e.status))
end`;

/** wrk with one thread, so that on two cores the server has one to itself. Undefined when there is none for this machine. */
export const findLoadTool = (): Promise<Tool | undefined> =>
  findTool('wrk', ['wrk', 'libluajit-5.1-2', 'libluajit-5.1-common']);

/**
 * Loads one address for `seconds` over `connections` that stay open.
 * @param folder for the script; the caller removes it
 * Rejects when a single request failed; a redirect is no failure.
 */
export async function load(
  tool: Tool,
  url: string,
  requests: Requests,
  options: { readonly folder: string; readonly connections: number; readonly seconds: number },
): Promise<Load> {
  const { folder, connections, seconds } = options;
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'requests.lua');
  writeFileSync(file, makers(requests) + summary);
  const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--latency', '-s', file, url];
  const child = spawn(tool.command, args, {
    env: { ...process.env, ...tool.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  const line = /^@(\{.*\})$/m.exec(output)?.[1];
  if (!line) throw new Error(`wrk said: ${output}`);
  const said = JSON.parse(line) as { requests: number; bytes: number; seconds: number; p99: number; errors: number };
  if (said.errors > 0) throw new Error(`${said.errors} requests failed`);
  return {
    requests: said.requests,
    requestsPerSecond: said.requests / said.seconds,
    megabytesPerSecond: said.bytes / said.seconds / 1e6,
    p99Ms: said.p99,
  };
}

/** What a load of new listeners is made of. */
export interface OpenLoadOrder {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly userAgent: string;
}

/** Answers to a load that does not wait for them; times are counted from when a request was due. */
export interface OpenLoad {
  /** Redirects and files. */
  readonly accepted: number;
  /** 503. */
  readonly refused: number;
  readonly withoutRetryAfter: number;
  readonly failed: number;
  readonly acceptedPerSecond: number;
  readonly p99Ms: number;
  readonly refusedP99Ms: number;
}

/** Asks for an address so many times a second, each time as a new listener, whether answers come or not. Rejects when a request failed. */
export async function openLoad(url: string, perSecond: number, seconds: number): Promise<OpenLoad> {
  const order: OpenLoadOrder = { url, perSecond, seconds, userAgent: nextApp() };
  const program = path.join(import.meta.dirname, 'open-load.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(order)]);
  const result = JSON.parse(stdout) as OpenLoad;
  if (result.failed > 0 || result.withoutRetryAfter > 0) throw new Error(`requests failed: ${stdout}`);
  return result;
}
