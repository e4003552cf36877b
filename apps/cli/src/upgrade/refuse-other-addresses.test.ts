import { expect, test } from '@jest/globals';
import { localUrls } from '@longwave/fleet';
import { refuseOtherAddresses } from './refuse-other-addresses.ts';

const portsFrom = (base: number) => ({ base, mcp: base + 1, api: base + 2, media: base + 3, objectStore: base + 4 });
const local = (base: number) => localUrls(portsFrom(base));
const pod = {
  base: 'https://pod.example',
  mcp: 'https://mcp.pod.example',
  api: 'https://api.pod.example',
  media: 'https://media.pod.example',
};

test.each([
  [[], local(8080)],
  [['--port-base', '9000'], local(9000)],
  [['--public-url', 'https://pod.example', '--port-base', '9000'], pod],
])('options %j keep the addresses of the service that runs', (options, running) => {
  expect(() => refuseOtherAddresses(options, running)).not.toThrow();
});

test.each([
  [[], local(9000), 'http://localhost:8083 instead of http://localhost:9003'],
  [[], pod, 'http://localhost:8080 instead of https://pod.example'],
  [
    ['--public-url', 'https://pod.example', '--media-url', 'https://cdn.example'],
    pod,
    'https://cdn.example instead of https://media.pod.example',
  ],
  [['--port-base', '80000'], local(8080), '--port-base: expected'],
])('options %j are refused where feeds would lead nowhere any more', (options, running, because) => {
  expect(() => refuseOtherAddresses(options, running)).toThrow(because);
});
