/**
 * Sends requests of new listeners at a steady rate, whether answers come or not, as listeners do who know nothing of each other.
 * Usage: node open-load.ts '{"url": …, "perSecond": …, "seconds": …, "userAgent": …}' → prints `OpenLoad` as JSON.
 */
import http from 'node:http';
import type { OpenLoad, OpenLoadOrder } from './load.ts';

const { url, perSecond, seconds, userAgent } = JSON.parse(process.argv[2]!) as OpenLoadOrder;
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
const { hostname, port, pathname, search } = new URL(url);

/** Times of answers in ms, from the moment for which a request was planned. */
const accepted: number[] = [];
const refused: number[] = [];
let withoutRetryAfter = 0;
let failed = 0;

function send(n: number, planned: number): Promise<void> {
  const address = `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`;
  return new Promise((resolve) => {
    const request = http.get(
      {
        agent,
        hostname,
        port,
        path: pathname + search,
        headers: { 'user-agent': userAgent, 'x-forwarded-for': address },
      },
      (response) => {
        const took = performance.now() - planned;
        if (response.statusCode === 302 || response.statusCode === 200) accepted.push(took);
        else if (response.statusCode === 503) {
          refused.push(took);
          if (!response.headers['retry-after']) withoutRetryAfter += 1;
        } else failed += 1;
        response.resume().on('end', resolve);
      },
    );
    request.on('error', () => {
      failed += 1;
      resolve();
    });
  });
}

const started = performance.now();
const total = Math.round(perSecond * seconds);
const underWay: Promise<void>[] = [];
for (let sent = 0; sent < total;) {
  const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * perSecond) + 1);
  for (; sent < due; sent++) underWay.push(send(sent, started + (sent * 1000) / perSecond));
  await new Promise((resolve) => setTimeout(resolve, 2));
}
await Promise.all(underWay);

const p99 = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(0.99 * (times.length - 1))] ?? 0;
const result: OpenLoad = {
  ...{ accepted: accepted.length, refused: refused.length, withoutRetryAfter, failed },
  acceptedPerSecond: (accepted.length * 1000) / (performance.now() - started),
  p99Ms: p99(accepted),
  refusedP99Ms: p99(refused),
};
console.log(JSON.stringify(result));
