import path from 'node:path';
import { expect } from '@jest/globals';
import { encodingJobKinds } from '@longwave/events';
import { services } from '@longwave/services';
import {
  all,
  find,
  names,
  podOf,
  render,
  root,
  valuesFiles,
  withHelm,
  workloadOf,
  type Container,
  type Labels,
  type PodSpec,
} from './_chart.ts';

/** The environment that a service would have, with a text in place of every secret. */
function environmentOf({ env }: Container): Record<string, string> {
  const secrets: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgresql://role:password@postgres:5432/longwave',
    REDIS_URL: 'rediss://service:password@redis:6379',
    MAIL_URL: 'smtps://user:password@mail.example.org',
  };
  const given = env.map(({ name, value, valueFrom }) => [
    name,
    value?.replace('$(POD_IP)', '10.0.0.7') ?? secrets[valueFrom?.secretKeyRef?.key ?? ''] ?? 'ab'.repeat(32),
  ]);
  return Object.fromEntries(given) as Record<string, string>;
}

/** The schema of a service's variables, and what reads them. The path is computed, because no project imports an app. */
async function configurationOf(name: string) {
  const file = path.join(root, 'apps', name, 'src/config.ts');
  return (await import(file)) as {
    readonly configuration: { readonly shape: object };
    readonly readConfiguration: (environment: Readonly<Record<string, string>>) => object;
  };
}

for (const file of valuesFiles) {
  withHelm(`every service accepts the configuration that the chart gives it, with ${file}`, async () => {
    for (const name of names) {
      const { readConfiguration } = await configurationOf(name);
      expect(() => readConfiguration(environmentOf(podOf(render(file), name).containers[0]))).not.toThrow();
    }
  });

  withHelm(`pods run as nobody, change no file of their image and may do nothing to their node, with ${file}`, () => {
    const jobs = all<{ spec: { template: { spec: PodSpec } } }>(render(file), 'Job').map(
      ({ spec }) => spec.template.spec,
    );
    for (const pod of [...names.map((name) => podOf(render(file), name)), ...jobs]) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod.containers[0]).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: {
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        },
      });
    }
  });

  withHelm(`probes ask the private port, and a pod that ends drains before it stops, with ${file}`, () => {
    for (const name of names) {
      const { containers, terminationGracePeriodSeconds } = podOf(render(file), name);
      expect(containers[0]).toMatchObject({
        startupProbe: { httpGet: { path: '/healthz', port: 'health' } },
        livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
        readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
        lifecycle: { preStop: { exec: { command: ['sleep', '15'] } } },
        ports: expect.arrayContaining([{ name: 'health', containerPort: 9090, protocol: 'TCP' }]),
      });
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(15 + 25);
    }
  });

  withHelm(
    `pods of a service are spread over zones and nodes, and are not all taken away at once, with ${file}`,
    () => {
      for (const name of names) {
        const { selector } = workloadOf(render(file), name).spec;
        const budget = find<{ spec: { selector: { matchLabels: Labels } } }>(
          render(file),
          'PodDisruptionBudget',
          `longwave-${name}`,
        );
        expect(budget.spec).toMatchObject({ maxUnavailable: 1, selector });
        const keys = podOf(render(file), name).topologySpreadConstraints.map(({ topologyKey }) => topologyKey);
        expect(keys).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
      }
    },
  );

  withHelm(
    `each folder of the manifest is mounted where its variable says, and lasts where it must, with ${file}`,
    () => {
      for (const name of names) {
        const { folders = {}, lastingFolders = [] } = services[name];
        const { containers, volumes } = podOf(render(file), name);
        const environment = environmentOf(containers[0]);
        const claimed = (workloadOf(render(file), name).spec.volumeClaimTemplates ?? []).map(
          ({ metadata }) => metadata.name,
        );
        for (const [variable, folder] of Object.entries(folders)) {
          expect(containers[0].volumeMounts).toContainEqual({ name: folder, mountPath: environment[variable] });
          expect([variable, claimed.includes(folder)]).toEqual([variable, lastingFolders.includes(variable)]);
          expect(volumes.some((volume) => volume.name === folder)).toBe(!lastingFolders.includes(variable));
        }
        expect(claimed.length).toBe(lastingFolders.length);
      }
    },
  );

  withHelm(`each owner of a schema is migrated before the new release, by a role of its own, with ${file}`, () => {
    const jobs = all<{ spec: { template: { spec: PodSpec } } }>(render(file), 'Job');
    const owners = names.filter((name) => services[name].schema !== undefined);
    expect(jobs.map(({ metadata }) => metadata.name)).toEqual(owners.map((name) => `longwave-${name}-migration`));
    for (const name of owners) {
      const job = jobs.find(({ metadata }) => metadata.name === `longwave-${name}-migration`)!;
      const { schema } = services[name];
      expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
      const [container] = job.spec.template.spec.containers;
      const wanted = ['--dir', `apps/${name}/prisma`, '--schema', schema, '--service-role', `longwave_${schema}`];
      expect(container.args).toEqual(['tools/migrate.js', 'deploy', ...wanted]);
      expect(container.env).toEqual([
        {
          name: 'DATABASE_URL',
          valueFrom: { secretKeyRef: { name: `longwave-${name}-migration`, key: 'DATABASE_URL' } },
        },
        ...(file === 'values-large.yaml' ? [{ name: 'NODE_EXTRA_CA_CERTS', value: '/run/longwave/ca/ca.crt' }] : []),
      ]);
    }
  });
}

interface Autoscaler {
  readonly spec: {
    readonly minReplicas: number;
    readonly maxReplicas: number;
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
    readonly metrics: readonly { readonly type: string }[];
  };
}

withHelm('services grow with their CPU, and with the metrics that values name', () => {
  const manifests = render('values-large.yaml');
  const scaled = all<Autoscaler>(manifests, 'HorizontalPodAutoscaler');
  expect(scaled.map(({ metadata }) => metadata.name)).toEqual(names.map((name) => `longwave-${name}`));
  for (const { spec } of scaled) {
    expect(spec.metrics[0]).toMatchObject({ type: 'Resource', resource: { name: 'cpu' } });
    expect(spec.maxReplicas).toBeGreaterThanOrEqual(spec.minReplicas);
    find(manifests, spec.scaleTargetRef.kind, spec.scaleTargetRef.name);
  }
  expect(find<Autoscaler>(manifests, 'HorizontalPodAutoscaler', 'longwave-encoder').spec.metrics[1]).toEqual({
    type: 'External',
    external: {
      metric: {
        name: 'longwave_jobs',
        selector: {
          matchLabels: { state: 'queued' },
          matchExpressions: [{ key: 'kind', operator: 'In', values: [...encodingJobKinds] }],
        },
      },
      target: { type: 'AverageValue', averageValue: '4' },
    },
  });
});

withHelm('an image is that of the release, and of a digest where values name one', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  const manifests = render('values-small.yaml', { image: { digests: { encoder: digest } } });
  const imageOf = (name: string) => podOf(manifests, name).containers[0].image;
  expect(imageOf('management')).toMatch(/^images\.example\.org\/longwave\/management:\d+\.\d+\.\d+$/);
  expect(imageOf('encoder')).toBe(`${imageOf('management').replace('management', 'encoder')}@${digest}`);
});

withHelm('the number of pods is the chart’s only where nothing else scales them', () => {
  for (const name of names) {
    expect(workloadOf(render('values-small.yaml'), name).spec.replicas).toBe(1);
    expect(workloadOf(render('values-large.yaml'), name).spec.replicas).toBeUndefined();
  }
});

withHelm('Prometheus reads every service where ServiceMonitors are asked for', () => {
  interface Monitor {
    readonly spec: { readonly selector: { readonly matchLabels: Labels }; readonly endpoints: readonly object[] };
  }
  const monitors = all<Monitor>(render('values-large.yaml'), 'ServiceMonitor');
  expect(monitors.map(({ spec }) => spec.selector.matchLabels['app.kubernetes.io/name'])).toEqual(names);
  for (const { spec } of monitors) expect(spec.endpoints).toMatchObject([{ port: 'health', path: '/metrics' }]);
  expect(all(render('values-small.yaml'), 'ServiceMonitor')).toEqual([]);
});

/** Those of Node, of its libraries, and the public addresses, which `readConfig` compares in every service. */
const readByAll = [
  ...['POD_IP', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'KAFKAJS_NO_PARTITIONER_WARNING'],
  ...['BASE_URL', 'MCP_URL', 'API_URL', 'MEDIA_URL'],
];

for (const file of valuesFiles)
  withHelm(`every variable of a container is one that the configuration of its service has, with ${file}`, async () => {
    for (const name of names) {
      const { configuration } = await configurationOf(name);
      const given = podOf(render(file), name).containers[0].env.map((each) => each.name);
      const unread = given.filter((variable) => !(variable in configuration.shape) && !readByAll.includes(variable));
      expect([name, unread]).toEqual([name, []]);
      const isPublic = 'S3_PUBLIC_ENDPOINT' in configuration.shape;
      expect([name, given.includes('S3_PUBLIC_ENDPOINT')]).toEqual([name, isPublic]);
    }
  });
