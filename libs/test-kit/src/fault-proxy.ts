import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * How a network is cut. `black-hole`: bytes vanish in both directions, and nobody is told, as when a firewall has forgotten its connections;
 * what was connected before or meanwhile stays silent for ever. `refused`: connections are reset and new ones refused, as when a host has
 * lost the program.
 */
export type Cut = 'black-hole' | 'refused';

/** A TCP proxy on 127.0.0.1 that can be cut. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** Leads new connections to a target. */
  readonly aimAt: (target: { readonly host: string; readonly port: number }) => void;
  readonly cut: (how: Cut) => Promise<void>;
  /** New connections get through again. */
  readonly heal: () => Promise<void>;
}

/** Passes bytes both ways; the end of either side ends the other. */
function join(client: Socket, server: Socket): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.pipe(to);
    from.on('close', () => to.destroy());
  }
}

/** Takes two sides apart. Neither learns of it: what they send is lost, and the one stays connected when the other has gone. */
function silence(sides: readonly Socket[]): void {
  for (const socket of sides) {
    socket.unpipe();
    socket.removeAllListeners('close');
    socket.resume();
  }
}

/** Starts a proxy whose connections lead nowhere until `aimAt`. */
export async function startFaultProxy(): Promise<FaultProxy> {
  const connections = new Set<readonly Socket[]>();
  let target: { readonly host: string; readonly port: number } | undefined;
  let isBlackHole = false;

  const server = createServer({ noDelay: true }, (client) => {
    const sides = isBlackHole || !target ? [client] : [client, connect({ ...target, noDelay: true })];
    connections.add(sides);
    for (const socket of sides) socket.on('error', () => undefined);
    const [, upstream] = sides;
    if (!upstream) return silence(sides);
    join(client, upstream);
    client.on('close', () => connections.delete(sides));
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = async () => {
    for (const socket of [...connections].flat()) socket.resetAndDestroy();
    connections.clear();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    aimAt: (next) => {
      target = next;
    },
    cut: async (how) => {
      isBlackHole = how === 'black-hole';
      if (isBlackHole) connections.forEach(silence);
      else await refuse();
    },
    heal: async () => {
      isBlackHole = false;
      if (!server.listening) await listen(port);
    },
    [Symbol.asyncDispose]: refuse,
  };
}
