import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect } from '@jest/globals';
import { namesOf, services } from '@longwave/services';
import { bareEnvironment } from '@longwave/test-kit';
import { withPrograms } from '@longwave/test-kit/with-programs';
import { parseAllDocuments, stringify } from 'yaml';

export const root = path.resolve(import.meta.dirname, '../../..');
export const chart = path.join(root, 'helm/longwave');
export const names = namesOf(services);

/** The files of values that the chart comes with, each a complete installation. */
export const valuesFiles = ['values-small.yaml', 'values-large.yaml'] as const;
export type ValuesFile = (typeof valuesFiles)[number];

/** What templates rendered, as far as tests read it of every kind. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels; readonly annotations?: Labels };
}
export type Labels = Readonly<Record<string, string>>;

export const withHelm = withPrograms('TEST_HELM');

/** Runs Helm on the chart with a file of values, and values over those of the file. */
export function helm(args: readonly string[], file: ValuesFile | undefined, values: object = {}) {
  const files = [...(file ? ['--values', path.join(chart, file)] : []), '--values', '-'];
  return spawnSync(process.env['TEST_HELM'] ?? 'helm', [...args, '--kube-version', '1.34.0', ...files], {
    encoding: 'utf8',
    input: stringify(values),
    env: { ...bareEnvironment, HOME: '/nonexistent' },
    maxBuffer: 64 * 1024 * 1024,
  });
}

const rendered = new Map<string, readonly Manifest[]>();

/** All manifests of a release; the same values are rendered once. Throws what Helm says. */
export function render(file: ValuesFile, values: object = {}, release = 'longwave'): readonly Manifest[] {
  const key = JSON.stringify([file, values, release]);
  const known = rendered.get(key);
  if (known) return known;
  const { status, stdout, stderr } = helm(['template', release, chart], file, values);
  if (status !== 0) throw new Error(stderr);
  // Helm and Kubernetes read YAML 1.1.
  const manifests = parseAllDocuments(stdout, { version: '1.1' }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
  rendered.set(key, manifests);
  return manifests;
}

/** The only manifest of a kind and name; the type is that of the kind, which the schema test proves. */
export function find<T>(manifests: readonly Manifest[], kind: string, name: string): Manifest & T {
  const found = manifests.filter((each) => each.kind === kind && each.metadata.name === name);
  expect(found.map(({ metadata }) => metadata.name)).toEqual([name]);
  return found[0] as Manifest & T;
}

/** Those of a kind. */
export const all = <T>(manifests: readonly Manifest[], kind: string): readonly (Manifest & T)[] =>
  manifests.filter((each) => each.kind === kind) as (Manifest & T)[];

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string }[] };
  readonly emptyDir?: object;
  readonly ephemeral?: object;
}

export interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly EnvVar[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: object;
  readonly lifecycle?: object;
  readonly resources: { readonly requests?: object; readonly limits?: object };
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

export interface PodSpec {
  readonly containers: readonly [Container];
  readonly volumes: readonly Volume[];
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly topologySpreadConstraints: readonly { readonly topologyKey: string }[];
}

export interface Workload {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels: Labels };
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

/** What runs a service: a Deployment, or a StatefulSet where its folders last. */
export function workloadOf(manifests: readonly Manifest[], name: string): Manifest & Workload {
  const kind = services[name as (typeof names)[number]].lastingFolders ? 'StatefulSet' : 'Deployment';
  return find<Workload>(manifests, kind, `longwave-${name}`);
}

export const podOf = (manifests: readonly Manifest[], name: string): PodSpec =>
  workloadOf(manifests, name).spec.template.spec;
