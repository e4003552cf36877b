import { addressRangesSetting, createAddressSet } from '@longwave/audience';
import { listenHttp } from '@longwave/http-kit';
import { renderListenAddress } from '@longwave/service-kit';
import { publicHosts, routesOf, soleServiceOf } from '@longwave/services';
import { apiFrontPage, createEdge } from './edge.ts';
import type { PublicPorts } from './fleet-ports.ts';
import type { Wiring } from './service-environment.ts';
import type { SupervisedService } from './supervised-service.ts';
import { soleUpstream, watchedUpstream } from './upstreams.ts';

/** Serves the public hosts that no process has for itself. `stack` ends it. */
export async function startEdges<S extends string>(
  wiring: Wiring<S>,
  ports: PublicPorts,
  processes: Readonly<Partial<Record<S, readonly SupervisedService[]>>>,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { services } = wiring.apps;
  const trustedProxies = createAddressSet(addressRangesSetting.parse(wiring.trustedProxies));
  /** A service that was not started has none. */
  const upstreamsOf = (service: S) => {
    const httpPorts = wiring.httpPorts[service] ?? [];
    const replicas = processes[service] ?? [];
    if (wiring.replicas === 1) return httpPorts.map(soleUpstream);
    return replicas.map((replica, index) => watchedUpstream(replica, httpPorts[index]!, stack));
  };
  for (const host of publicHosts) {
    const routes = routesOf(services, host);
    if (routes.length === 0 || (wiring.replicas === 1 && soleServiceOf(services, host))) continue;
    const upstreams = new Map(
      [...new Set(routes.map(({ service }) => service))].map((name) => [name, upstreamsOf(name)]),
    );
    const edge = await listenHttp(
      renderListenAddress({ host: wiring.listen, port: ports[host] }),
      createEdge(
        routes.map(({ prefix, service }) => ({ prefix, upstreams: upstreams.get(service)! })),
        {
          frontPage: host === 'api' ? apiFrontPage(wiring.urls.base, services) : undefined,
          trustedProxies,
        },
      ),
      // The base host is that of REST API v1, which has a form of its own for errors.
      { refusals: host === 'base' ? 'rest' : 'problem', proxyProtocol: wiring.proxyProtocol && trustedProxies },
    );
    stack.defer(() => edge.close());
  }
}
