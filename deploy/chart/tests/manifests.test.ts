import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect } from '@jest/globals';
import { withPrograms } from '@longwave/test-kit/with-programs';
import { find, names, render, valuesFiles, withHelm, type Manifest } from './_chart.ts';

const knowingTypes = withPrograms('TEST_HELM', 'TEST_MANIFEST_TYPES');
const knowingSchemas = withPrograms('TEST_HELM', 'TEST_KUBERNETES_PYTHON');

/** The lines that a program prints about manifests: one for each that is wrong. */
function mistakesBy(program: string | undefined, args: readonly string[], manifests: readonly object[]) {
  const input = JSON.stringify(manifests);
  const { status, stdout, stderr } = spawnSync(program ?? '', args, { encoding: 'utf8', input });
  expect([status, stderr]).toEqual([stdout === '' ? 0 : 1, '']);
  return stdout.split('\n').filter(Boolean);
}

/** What does not decode into the type of its kind. */
const mistypedIn = (manifests: readonly object[]) => mistakesBy(process.env['TEST_MANIFEST_TYPES'], [], manifests);

/** The first release that the chart may be installed on, and the newest whose schemas are at hand. */
const releases = ['1.29', '1.37'];

/** What the schemas of those releases refuse. */
const refusedIn = (manifests: readonly object[]) =>
  mistakesBy(
    process.env['TEST_KUBERNETES_PYTHON'],
    [path.resolve(import.meta.dirname, '../validate_manifests.py'), ...releases],
    manifests,
  );

/** Kubernetes' own kinds: other groups bring their kinds with them. */
const ownKinds = (manifests: readonly Manifest[]) =>
  manifests.filter(
    ({ apiVersion }) => !/^(cert-manager\.io|gateway\.networking\.k8s\.io|monitoring\.coreos\.com)\//.test(apiVersion),
  );

const variants: readonly (readonly [string, object])[] = [
  ['as it is', {}],
  ['with the other public way', { public: { kind: 'Ingress' } }],
  [
    'with a Gateway of the cluster',
    { public: { kind: 'Gateway', gateway: { create: false, name: 'edge', namespace: 'gateways' } } },
  ],
  [
    'with everything that is off by default',
    {
      image: { pullSecrets: ['registry'] },
      mutualTls: { operator: true },
      serviceMonitors: { enabled: true },
      networkPolicies: { prometheus: [{ podSelector: {} }], collector: { ports: [4318], to: [{ podSelector: {} }] } },
      defaults: {
        autoscaling: {
          enabled: true,
          metrics: [{ name: 'nodejs_eventloop_utilization', of: 'pod', averageValue: '500m' }],
        },
        nodeSelector: { disk: 'fast' },
        tolerations: [{ key: 'media', operator: 'Exists' }],
        podAnnotations: { team: 'audio' },
      },
      caCertificates: { configMap: 'engines-ca' },
    },
  ],
  [
    'with another issuer and without policies and migrations',
    {
      mutualTls: { issuer: { create: false, name: 'vault', kind: 'ClusterIssuer' } },
      networkPolicies: { enabled: false },
      migrations: { enabled: false },
    },
  ],
];

for (const file of valuesFiles)
  for (const [what, values] of variants)
    knowingTypes(`every manifest is of a known kind and has only members of that kind: ${file} ${what}`, () => {
      expect(mistypedIn(render(file, values))).toEqual([]);
    });

knowingSchemas('every manifest of a kind of Kubernetes has what its kind requires, whatever the values', () => {
  const manifests = valuesFiles.flatMap((file) => variants.flatMap(([, values]) => ownKinds(render(file, values))));
  // Most do not depend on the values.
  const different = [...new Map(manifests.map((each) => [JSON.stringify(each), each])).values()];
  expect(different.length).toBeGreaterThan(names.length * 10);
  expect(refusedIn(different)).toEqual([]);
});

knowingSchemas('a missing member, an unknown member and an unknown kind are refused', () => {
  const budget = find<{ spec: object }>(render('values-small.yaml'), 'PodDisruptionBudget', 'longwave-encoder');
  const service = find<{ spec: object }>(render('values-small.yaml'), 'Service', 'longwave-encoder');
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'job' }, spec: {} };
  const wrong = [
    job,
    { ...budget, spec: { ...budget.spec, least: 1 } },
    { ...service, spec: { ...service.spec, ports: [{ name: 'grpc' }] } },
    { ...service, kind: 'Door' },
  ];
  expect(refusedIn(wrong)).toHaveLength(wrong.length * releases.length);
});

knowingTypes('an unknown kind, an unknown member and a value of another type are found', () => {
  const route = find<{ spec: object }>(render('values-large.yaml'), 'HTTPRoute', 'longwave-base');
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ ...route, kind: 'HttpRoute' }, /no kind "HttpRoute" is registered/],
    [{ ...route, apiVersion: 'gateway.networking.k8s.io/v2' }, /no kind "HTTPRoute" is registered for version/],
    [{ ...route, spec: { ...route.spec, hostnames_: [] } }, /unknown field "spec.hostnames_"/],
    [
      { ...route, spec: { ...route.spec, hostnames: 'pod.example.org' } },
      /cannot unmarshal string into Go struct field/,
    ],
  ];
  for (const [manifest, words] of wrong) expect(mistypedIn([manifest])).toEqual([expect.stringMatching(words)]);
});

withHelm('no two manifests of a kind have the same name', () => {
  for (const file of valuesFiles) {
    const ids = render(file).map(({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

withHelm('names fit into a label, also those of the longest release that Helm takes', () => {
  const release = 'r'.repeat(53);
  for (const file of valuesFiles)
    for (const { kind, metadata } of render(file, {}, release))
      expect([kind, metadata.name.length <= 63, metadata.name]).toEqual([kind, true, metadata.name]);
});
