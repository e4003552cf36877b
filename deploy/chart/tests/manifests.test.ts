import { spawnSync } from 'node:child_process';
import { expect } from '@jest/globals';
import { find, render, valuesFiles, withHelm, type Manifest } from './_chart.ts';

/** What the program deploy/chart/manifest-types finds wrong: a line for each manifest that is not of its kind. */
function mistakesIn(manifests: readonly object[]): readonly string[] {
  const program = process.env['TEST_MANIFEST_TYPES'];
  if (!program) throw new Error('TEST_MANIFEST_TYPES names no program');
  const { status, stdout, stderr } = spawnSync(program, { encoding: 'utf8', input: JSON.stringify(manifests) });
  expect([status, stderr]).toEqual([stdout === '' ? 0 : 1, '']);
  return stdout.split('\n').filter(Boolean);
}

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
      networkPolicies: { collector: { ports: [4318] } },
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
    withHelm(`every manifest is of a known kind and has only members of that kind: ${file} ${what}`, () => {
      expect(mistakesIn(render(file, values))).toEqual([]);
    });

withHelm('an unknown kind, an unknown member and a value of another type are found', () => {
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
  for (const [manifest, words] of wrong) expect(mistakesIn([manifest])).toEqual([expect.stringMatching(words)]);
});

withHelm('no two manifests of a kind have the same name', () => {
  for (const file of valuesFiles) {
    const ids = render(file).map(({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`);
    expect(new Set(ids).size).toBe(ids.length);
  }
});
