import { expect } from '@jest/globals';
import { chart, helm, withHelm } from './_chart.ts';

/** What Helm says about values over those of values-small.yaml. */
function refusal(values: object): string {
  const { status, stderr } = helm(['template', 'longwave', chart], 'values-small.yaml', values);
  expect(status).not.toBe(0);
  return stderr;
}

const pairs = ['base', 'mcp', 'api', 'media'].flatMap((one, index, hosts) =>
  hosts.slice(index + 1).map((other) => [one, other] as const),
);

withHelm('two public addresses at one host are refused in words, also when their ports or letters differ', () => {
  for (const [one, other] of pairs)
    for (const [at, alike] of [
      ['https://one.example.org', 'https://one.example.org'],
      ['https://one.example.org', 'https://one.example.org:8443'],
    ])
      expect(refusal({ addresses: { [one]: at, [other]: alike } })).toContain(
        `addresses.${one} and addresses.${other} are both at one.example.org. Give each of the four addresses a host name of its own`,
      );
});

const anywhere = [{ ipBlock: { cidr: '0.0.0.0/0' } }];

type Refused = readonly [what: string, values: object, words: string];

const refused: readonly Refused[] = [
  ['an address without TLS', { addresses: { base: 'http://pod.example.org' } }, '/addresses/base'],
  ['an address with a path', { addresses: { api: 'https://api.example.org/v1' } }, '/addresses/api'],
  ['no trusted proxy', { trustedProxies: [] }, '/trustedProxies'],
  ['a proxy that is no range', { trustedProxies: ['10.0.0.1'] }, '/trustedProxies/0'],
  ['a value that nobody reads', { replicas: 3 }, 'replicas'],
  ['a service that there is not', { services: { gateway: {} } }, 'services.gateway: there is no such service'],
  [
    'a digest of no service',
    { image: { digests: { gateway: `sha256:${'0'.repeat(64)}` } } },
    'image.digests.gateway: there is no such service',
  ],
  ['no process', { services: { encoder: { replicas: 0 } } }, '/services/encoder/replicas'],
  [
    'a setting that is no text',
    { services: { encoder: { settings: { ENCODER_CONCURRENCY: 4 } } } },
    'ENCODER_CONCURRENCY',
  ],
  [
    'a size without a unit of Kubernetes',
    { services: { encoder: { folders: { ENCODER_WORK_FOLDER: { size: '60 GB' } } } } },
    'size',
  ],
  [
    'a metric that services do not report',
    { services: { encoder: { autoscaling: { metrics: [{ name: 'requests', averageValue: '1' }] } } } },
    'metrics/0/name',
  ],
  ['too little time to stop', { defaults: { stopSeconds: 5 } }, '/defaults/stopSeconds'],
  ['another kind of public way', { public: { kind: 'NodePort' } }, '/public/kind'],
  ['nobody who may reach the public ports', { networkPolicies: { gateway: [] } }, 'networkPolicies.gateway is empty'],
  ...(['postgres', 'redis', 'objectStore', 'kafka', 'collector'] as const).map((engine): Refused => [
    `no address of ${engine}`,
    { kafka: { brokers: ['kafka:9092'] }, networkPolicies: { [engine]: { ports: [9092, 443], to: [] } } },
    `networkPolicies.${engine}.to is empty`,
  ]),
  ['no address of the DNS', { networkPolicies: { dns: [] } }, 'networkPolicies.dns is empty'],
  [
    'a ServiceMonitor that nobody may read',
    { serviceMonitors: { enabled: true }, networkPolicies: { prometheus: [] } },
    'serviceMonitors.enabled is true, but networkPolicies.prometheus is empty',
  ],
  [
    'a port of Kafka that is closed',
    { kafka: { brokers: ['kafka:9092', 'kafka:9093'] }, networkPolicies: { kafka: { to: anywhere } } },
    'kafka.brokers has kafka:9093, but networkPolicies.kafka.ports has no 9093',
  ],
  [
    'a port of the object store that is closed',
    { objectStore: { endpoint: 'https://objects.example.org:9000' } },
    'objectStore.endpoint has port 9000, but networkPolicies.objectStore.ports has no 9000',
  ],
  [
    'a port of an object store without TLS that is closed',
    { objectStore: { endpoint: 'http://objects.example.org' } },
    'objectStore.endpoint has port 80, but networkPolicies.objectStore.ports has no 80',
  ],
  [
    'a folder that a service does not have',
    { services: { encoder: { folders: { CACHE_FOLDER: { size: '1Gi' } } } } },
    'services.encoder.folders.CACHE_FOLDER: encoder has no such folder. Its folders are ENCODER_WORK_FOLDER.',
  ],
  [
    'a folder of a service that has none',
    { services: { 'mcp-server': { folders: { CACHE_FOLDER: { size: '1Gi' } } } } },
    'services.mcp-server.folders.CACHE_FOLDER: mcp-server has no folders.',
  ],
  ['a Gateway without a class', { public: { kind: 'Gateway' } }, 'public.gateway.className is empty'],
  [
    'routes without a Gateway',
    { public: { kind: 'Gateway', gateway: { create: false } } },
    'public.gateway.name is empty',
  ],
  [
    'a password of Kafka in plain text',
    { kafka: { brokers: ['kafka:9092'], saslMechanism: 'plain' } },
    'kafka.saslMechanism plain sends passwords in plain text',
  ],
  ['a login without Kafka', { kafka: { saslMechanism: 'scram-sha-512' } }, 'kafka.brokers is empty'],
  ['an unknown login at Kafka', { kafka: { saslMechanism: 'gssapi' } }, '/kafka/saslMechanism'],
  ['certificates of nobody', { mutualTls: { issuer: { create: false } } }, 'mutualTls.issuer.name is empty'],
  [
    'a setting that the chart makes',
    { services: { encoder: { settings: { TLS_CA: '/tmp/ca.pem' } } } },
    'settings of encoder name TLS_CA, which the chart sets itself',
  ],
];

for (const [what, values, words] of refused)
  withHelm(`${what} is refused, and the message names it`, () => expect(refusal(values)).toContain(words));

withHelm(
  'an engine may be open at any address where the values say so, and addresses are asked for where they count alone',
  () => {
    const accepted = [
      { networkPolicies: { objectStore: { to: anywhere } } },
      { networkPolicies: { enabled: false, postgres: { to: [] } } },
      { networkPolicies: { kafka: { to: [] } } },
    ];
    for (const values of accepted)
      expect(helm(['template', 'longwave', chart], 'values-small.yaml', values)).toMatchObject({ status: 0 });
  },
);

withHelm('the chart alone installs nothing: every value that only an operator knows is asked for', () => {
  const { status, stderr } = helm(['template', 'longwave', chart], undefined);
  expect(status).not.toBe(0);
  for (const value of ['/image/repository', '/addresses/base', '/trustedProxies', '/objectStore/endpoint'])
    expect(stderr).toContain(value);
});

withHelm('every mistake that is no matter of a schema is named at once', () => {
  const text = refusal({
    addresses: { mcp: 'https://pod.example.org' },
    networkPolicies: { gateway: [] },
    public: { kind: 'Gateway' },
  });
  expect(text).toContain('addresses.base and addresses.mcp');
  expect(text).toContain('networkPolicies.gateway');
  expect(text).toContain('public.gateway.className');
});
