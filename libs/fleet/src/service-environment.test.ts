import { expect, test } from '@jest/globals';
import { namesOf, secretsInFiles, services, type ServiceName } from '@longwave/services';
import { ownApps } from './apps.ts';
import { dataFolder } from './data-folder.ts';
import { serviceEnvironment, type Wiring } from './service-environment.ts';

const names = namesOf(services);
const ofEach = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value])) as Record<ServiceName, T>;

const wiring: Wiring<ServiceName> = {
  ...{ apps: ownApps, data: dataFolder('/data'), replicas: 1, enginesCa: undefined },
  ...{ kafkaBrokers: undefined, kafkaSecurity: undefined },
  urls: {
    ...{ base: 'https://pod.example', mcp: 'https://mcp.pod.example', api: 'https://api.pod.example' },
    ...{ media: 'https://media.pod.example', objects: 'https://objects.pod.example' },
  },
  ...{ listen: '0.0.0.0', trustedProxies: '10.0.0.2', proxyProtocol: true },
  ...{ grpcPorts: ofEach([1, 2]), healthPorts: ofEach([3, 4]), httpPorts: ofEach([5, 6]) },
  identities: ofEach({ ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' }),
  objectStore: { endpoint: 'http://127.0.0.1:7', region: 'r', bucket: 'b' },
  secretPaths: Object.fromEntries(secretsInFiles.map((name) => [name, '/f'])) as Wiring<ServiceName>['secretPaths'],
};

/** What each service is told about the proxies that connect to it. */
const proxiesOf = (changes: Partial<Wiring<ServiceName>>) =>
  Object.fromEntries(
    names.map((name) => {
      const { TRUSTED_PROXIES: trusted, PROXY_PROTOCOL: protocol = 'off' } = serviceEnvironment(name, 0, {
        ...wiring,
        ...changes,
      });
      return [name, `${trusted} ${protocol}`];
    }),
  );

const allBehindEdge = ofEach('127.0.0.1/32 off');

test('proxies in front speak the PROXY protocol to the services that have a public port; the others hear the edge by HTTP', () => {
  const outside = { 'mcp-server': '10.0.0.2 on', 'public-delivery': '10.0.0.2 on' };
  expect(proxiesOf({})).toEqual({ ...allBehindEdge, ...outside });
  expect(proxiesOf({ proxyProtocol: false })).toEqual({
    ...allBehindEdge,
    ...{ 'mcp-server': '10.0.0.2 off', 'public-delivery': '10.0.0.2 off' },
  });
});

test('where every service has several processes, all of them are behind the edge', () => {
  expect(proxiesOf({ replicas: 2 })).toEqual(allBehindEdge);
});

test('the public address of the object store goes to the services whose answers lead clients there, and to no other', () => {
  const knowing = names.filter((name) => 'S3_PUBLIC_ENDPOINT' in serviceEnvironment(name, 0, wiring));
  expect(knowing).toEqual(['management', 'rest-gateway']);
});
