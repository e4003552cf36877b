import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { addressVariableOf, gateways, publicHosts, routesOf, services, type ServiceName } from '@longwave/services';
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
  type Labels,
  type Manifest,
} from './_chart.ts';

interface Peer {
  readonly podSelector?: { readonly matchLabels: Labels };
  readonly namespaceSelector?: object;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: number }[];
}
interface NetworkPolicy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

/** Without `publishNotReadyAddresses`: only pods that are ready have their addresses in it. */
interface HeadlessService {
  readonly clusterIP: string;
  readonly selector: Labels;
  readonly ports: readonly object[];
}

const ports = { http: 8080, grpc: 8443, health: 9090 };
const nameLabel = 'app.kubernetes.io/name';

const policyOf = (manifests: readonly Manifest[], name: string) =>
  find<NetworkPolicy>(manifests, 'NetworkPolicy', `longwave-${name}`).spec;

/** Who reaches a port by the rules of a policy. */
const peersAt = (rules: readonly Rule[] = [], port: number, side: 'from' | 'to'): readonly Peer[] =>
  rules.filter((rule) => rule.ports?.some((each) => each.port === port)).flatMap((rule) => rule[side] ?? []);

const namesOfPeers = (peers: readonly Peer[]) => peers.map((peer) => peer.podSelector?.matchLabels[nameLabel]).sort();

const callerNames = `'(?:${[...names, 'operator'].join('|')})'`;
/** A list of callers as the code of a service writes it: `[...gateways, 'encoder', 'operator']`, or `: gateways`. */
const callerLists = new RegExp(`\\[((?:\\s*(?:\\.\\.\\.\\w+|${callerNames}),?)+)\\s*\\]|: (gateways)\\b`, 'g');

/** Every service that one of a service's methods lets in, by those of its sources that serve RPCs. */
function allowedBy(name: ServiceName): readonly string[] {
  const files = globSync(`apps/${name}/src/**/*.ts`, { cwd: root, exclude: ['**/tests/**', '**/generated/**'] });
  const texts = files
    .map((file) => readFileSync(path.join(root, file), 'utf8'))
    .filter((text) => /\b(?:rpc|receipt)Service\(/.test(text));
  const lists = texts.flatMap((text) => [...text.matchAll(callerLists)].map(([list]) => list));
  const found = lists.flatMap((list) => [
    ...(list.includes('gateways') ? gateways : []),
    ...[...list.matchAll(/'([a-z-]+)'/g)].map(([, each = '']) => each),
  ]);
  return [...new Set(found)].filter((each) => each !== 'operator').sort();
}

for (const file of valuesFiles) {
  withHelm(`the gRPC port of each service is open to exactly those whom its code lets in, with ${file}`, () => {
    for (const name of names) {
      const peers = namesOfPeers(peersAt(policyOf(render(file), name).ingress, ports.grpc, 'from'));
      const callers = names.filter((each) => services[each].calls.includes(name)).sort();
      expect([name, peers]).toEqual([name, services[name].grpc ? callers : []]);
      expect([name, peers]).toEqual([name, services[name].grpc ? allowedBy(name) : []]);
    }
  });

  withHelm(`each service may open connections to exactly the services that it calls, with ${file}`, () => {
    for (const name of names) {
      const called = namesOfPeers(peersAt(policyOf(render(file), name).egress, ports.grpc, 'to'));
      expect([name, called]).toEqual([name, services[name].calls.toSorted()]);
    }
  });

  withHelm(`the gateway alone reaches HTTP ports, and only of services with public paths, with ${file}`, () => {
    for (const name of names) {
      const peers = peersAt(policyOf(render(file), name).ingress, ports.http, 'from');
      expect([name, peers.length]).toEqual([name, services[name].http ? 1 : 0]);
      expect(peers.every((peer) => peer.namespaceSelector !== undefined)).toBe(true);
    }
  });

  withHelm(`what no policy names is closed for every pod, in both directions, with ${file}`, () => {
    const rest = policyOf(render(file), 'nothing-else');
    expect(rest).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    expect(rest.ingress).toBeUndefined();
    for (const name of names)
      expect(workloadOf(render(file), name).spec.template.metadata.labels).toMatchObject(rest.podSelector.matchLabels);
    for (const policy of all<NetworkPolicy>(render(file), 'NetworkPolicy'))
      for (const rule of policy.spec.ingress ?? []) {
        expect([policy.metadata.name, rule.from?.length ?? 0, rule.ports?.length]).toEqual([
          policy.metadata.name,
          expect.any(Number),
          1,
        ]);
        expect(rule.from?.length).toBeGreaterThan(0);
      }
  });

  withHelm(`every rule for connections out names where to, with ${file}`, () => {
    const open = all<NetworkPolicy>(render(file), 'NetworkPolicy').flatMap(({ metadata, spec }) =>
      (spec.egress ?? []).filter(({ to = [] }) => to.length === 0).map((rule) => [metadata.name, rule]),
    );
    expect(open).toEqual([]);
  });

  withHelm(
    `only services that fetch addresses of clients reach the internet, and no private address, with ${file}`,
    () => {
      for (const name of names) {
        const everywhere = (policyOf(render(file), name).egress ?? [])
          .flatMap(({ to = [] }) => to)
          .filter(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0');
        expect([name, everywhere.length]).toEqual([name, services[name].reachesInternet ? 1 : 0]);
        for (const { ipBlock } of everywhere)
          expect(ipBlock?.except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']));
      }
    },
  );

  withHelm(`no service has an address outside of the cluster of its own, with ${file}`, () => {
    const found = all<{ spec: { type?: string; clusterIP?: string } }>(render(file), 'Service');
    for (const { spec } of found) expect(spec.type ?? 'ClusterIP').toBe('ClusterIP');
  });

  withHelm(`callers of a service get a name that stands for each of its ready pods, with ${file}`, () => {
    const manifests = render(file);
    for (const name of names)
      for (const called of services[name].calls) {
        const { containers } = podOf(manifests, name);
        const { value } = containers[0].env.find((each) => each.name === addressVariableOf(called))!;
        expect(value).toBe(`longwave-${called}-grpc:${ports.grpc}`);
        const { spec } = find<{ spec: HeadlessService }>(manifests, 'Service', `longwave-${called}-grpc`);
        expect(spec).toEqual({
          clusterIP: 'None',
          selector: find<{ spec: HeadlessService }>(manifests, 'Service', `longwave-${called}`).spec.selector,
          ports: [{ name: 'grpc', port: ports.grpc, targetPort: 'grpc', protocol: 'TCP' }],
        });
      }
  });
}

/** Host, path and service of every public route, the longest path of a host first. */
function publicRoutes(manifests: readonly Manifest[]) {
  interface HttpRoute {
    readonly spec: {
      readonly hostnames: readonly string[];
      readonly rules: readonly {
        readonly matches: readonly { readonly path: { readonly type: string; readonly value: string } }[];
        readonly backendRefs: readonly { readonly name: string; readonly port: number }[];
      }[];
    };
  }
  interface Ingress {
    readonly spec: {
      readonly rules: readonly {
        readonly host: string;
        readonly http: {
          readonly paths: readonly {
            readonly path: string;
            readonly pathType: string;
            readonly backend: { readonly service: { readonly name: string; readonly port: { readonly name: string } } };
          }[];
        };
      }[];
    };
  }
  const routed = all<HttpRoute>(manifests, 'HTTPRoute').flatMap(({ spec }) =>
    spec.rules.flatMap(({ matches, backendRefs }) =>
      matches.map((match) => {
        expect([match.path.type, backendRefs.length, backendRefs[0]?.port]).toEqual(['PathPrefix', 1, ports.http]);
        return { host: spec.hostnames.join(), path: match.path.value, service: backendRefs[0]!.name };
      }),
    ),
  );
  const ingressed = all<Ingress>(manifests, 'Ingress').flatMap(({ spec }) =>
    spec.rules.flatMap(({ host, http }) =>
      http.paths.map(({ path: at, pathType, backend }) => {
        expect([pathType, backend.service.port.name]).toEqual(['Prefix', 'http']);
        return { host, path: at, service: backend.service.name };
      }),
    ),
  );
  return [...routed, ...ingressed].sort((a, b) => (`${a.host}${a.path}` < `${b.host}${b.path}` ? -1 : 1));
}

const hostNames = {
  base: 'pod.example.org',
  mcp: 'mcp.pod.example.org',
  api: 'api.pod.example.org',
  media: 'media.pod.example.org',
};

for (const [kind, other] of [
  ['Gateway', 'Ingress'],
  ['Ingress', 'HTTPRoute'],
] as const)
  withHelm(`the four hosts lead to the public paths of the manifest and to nothing else, by ${kind}`, () => {
    const manifests = render('values-large.yaml', { public: { kind } });
    expect(all(manifests, other)).toEqual([]);
    const wanted = publicHosts
      .flatMap((host) =>
        routesOf(services, host).map(({ prefix, service }) => ({
          host: hostNames[host],
          path: prefix || '/',
          service: `longwave-${service}`,
        })),
      )
      .sort((a, b) => (`${a.host}${a.path}` < `${b.host}${b.path}` ? -1 : 1));
    expect(publicRoutes(manifests)).toEqual(wanted);
  });

withHelm('the default way to the four hosts is the Gateway API', () => {
  expect(all(render('values-large.yaml'), 'HTTPRoute').length).toBe(publicHosts.length);
});

withHelm(
  'an Ingress logs no address, because addresses of files contain tokens, whatever annotations the values add',
  () => {
    const log = 'nginx.ingress.kubernetes.io/enable-access-log';
    const annotations = { [log]: 'true', 'example.org/owner': 'ada' };
    for (const { metadata } of all(render('values-small.yaml', { public: { ingress: { annotations } } }), 'Ingress'))
      expect(metadata.annotations).toMatchObject({ [log]: 'false', 'example.org/owner': 'ada' });
  },
);

withHelm('pods of operator commands reach gRPC ports only where their certificate is asked for', () => {
  const operators = (values: object) =>
    names.filter((name) =>
      namesOfPeers(peersAt(policyOf(render('values-small.yaml', values), name).ingress, ports.grpc, 'from')).includes(
        'operator',
      ),
    );
  expect(operators({})).toEqual([]);
  expect(operators({ mutualTls: { operator: true } })).toEqual(
    names.filter((name) => services[name].grpc && names.some((each) => services[each].calls.includes(name))),
  );
});

test('the code of every service that answers others lets somebody in', () => {
  for (const name of names) if (services[name].grpc) expect([name, allowedBy(name)]).not.toEqual([name, []]);
});
