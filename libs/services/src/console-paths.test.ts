import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { isConsolePath, reservedPrefixes } from './console-paths.ts';
import { routesOf } from './derive.ts';
import { services } from './manifest.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** Paths of `{base_url}` that the edge, the chart and the proxy of containers send to other services than the gateway. */
const routed = {
  edge: routesOf(services, 'base').map(({ prefix }) => prefix),
  chart: (
    JSON.parse(read('helm/longwave/files/services.json')) as {
      services: { routes: { host: string; paths: string[] }[] }[];
    }
  ).services.flatMap(({ routes }) => routes.filter(({ host }) => host === 'base').flatMap(({ paths }) => paths)),
  containers: [
    ...read('deploy/server/containers.Caddyfile')
      .split('{$LONGWAVE_DOMAIN:pod.example} {')[1]!
      .split('\n}\n')[0]!
      .matchAll(/ (\/[\w./-]+)(?=[ \n])/g),
  ].map(([, found]) => found!),
};

test.each(Object.entries(routed))('every path of the base host that the %s routes is a reserved one', (_who, paths) => {
  const named = paths.filter((each) => each !== '');
  expect(named).toEqual(expect.arrayContaining(['/management/v1', '/sign-in', '/settings', '/oauth']));
  expect(named.filter(isConsolePath)).toEqual([]);
});

test('a prefix reserves itself and what is below it, and nothing that only begins like it', () => {
  for (const prefix of reservedPrefixes) {
    expect([prefix, `${prefix}/`, `${prefix}/a/b`].filter(isConsolePath)).toEqual([]);
    expect(isConsolePath(`${prefix}s`)).toBe(true);
  }
  expect(['/', '/podcasts', '/workspaces/ws_1/line-items'].every(isConsolePath)).toBe(true);
});
