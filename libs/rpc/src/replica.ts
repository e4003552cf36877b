import { connectivityState, Metadata, status, type Client, type ServiceError } from '@grpc/grpc-js';
import type { Problem } from '@longwave/problems';
import { createCallStream, type SendCall } from './call-stream.ts';
import { NeverSent } from './never-sent.ts';
import { fromServiceError } from './problem-status.ts';

const healthCheck = '/grpc.health.v1.Health/Check';
/** A replica that has calls, and from which nothing is heard for this time, is asked whether it is there, and has this time to answer. */
const patienceMs = 300;

/** Added to the number of calls under way, so that these replicas come after all that are ready. */
const penalties = { connecting: 1e6, avoided: 2e6, broken: 3e6 };

/** One process of a service, and the one connection to it. */
export interface Replica {
  readonly client: Client;
  /** Sends a call on the shared stream; undefined while none is open. */
  readonly sender: () => SendCall | undefined;
  /** Whether a call would be sent at once. Keeps the connection up. */
  readonly isReady: () => boolean;
  /** Whether a call would wait until its connection is made. */
  readonly isConnecting: () => boolean;
  /** Resolves when the state of the connection has changed, or at a time in Unix milliseconds. */
  readonly changed: (endMs: number) => Promise<void>;
  /** The next call goes to the replica with the lowest rank: the one with the fewest calls under way. */
  readonly rank: () => number;
  /** Sends one call, and takes note of how it ends. */
  readonly run: <T>(send: () => Promise<T>) => Promise<T>;
  /** The failure of a call that the client of this replica has sent by itself. */
  readonly failureOf: (call: { readonly getPeer: () => string }, error: ServiceError) => Problem | NeverSent;
  /** Ends the connection once the calls under way have ended. */
  readonly close: () => void;
}

export function createReplica(client: Client): Replica {
  const channel = client.getChannel();
  let underWay = 0;
  /** When the first call began since something was heard. */
  let waitsSinceMs = Infinity;
  /** It has not answered whether it is there: no call goes there until something is heard. */
  let isSilent = false;
  let isProbed = false;
  const heard = () => {
    waitsSinceMs = Infinity;
    isSilent = false;
  };
  const stream = createCallStream(client, heard);

  function probe(): void {
    isProbed = true;
    const bytes = (value: Buffer) => value;
    const deadline = { deadline: Date.now() + patienceMs };
    client.makeUnaryRequest(healthCheck, bytes, bytes, Buffer.alloc(0), new Metadata(), deadline, (error) => {
      isProbed = false;
      // A connection that breaks is made again: its state says then whether the replica is there.
      if (error?.code !== status.DEADLINE_EXCEEDED) return heard();
      isSilent = true;
    });
  }

  /** An idle connection is made again: one that has ended while no call waited. */
  const state = () => {
    const found = channel.getConnectivityState(false);
    return found === connectivityState.IDLE ? channel.getConnectivityState(true) : found;
  };
  const isReady = () => !isSilent && (stream.isOpen() || (state() === connectivityState.READY && !stream.isLeaving()));
  const isConnecting = () => state() === connectivityState.IDLE || state() === connectivityState.CONNECTING;

  return {
    client,
    sender: stream.sender,
    isReady,
    isConnecting,
    changed: (endMs) => new Promise((resolve) => channel.watchConnectivityState(state(), endMs, () => resolve())),
    rank: () => {
      if (!isProbed && Date.now() - waitsSinceMs > patienceMs) probe();
      if (isReady()) return underWay;
      if (isConnecting()) return underWay + penalties.connecting;
      return underWay + (state() === connectivityState.READY ? penalties.avoided : penalties.broken);
    },
    run: async (send) => {
      if (waitsSinceMs === Infinity) waitsSinceMs = Date.now();
      underWay++;
      try {
        const answer = await send();
        heard();
        return answer;
      } finally {
        underWay--;
      }
    },
    failureOf: (call, error) => {
      if (error.code !== status.UNAVAILABLE) {
        if (error.code !== status.DEADLINE_EXCEEDED && error.code !== status.CANCELLED) heard();
        return fromServiceError(error);
      }
      // A call that was given to no connection has the name of its channel for a peer.
      const wasSent = call.getPeer() !== channel.getTarget();
      return wasSent ? fromServiceError(error) : new NeverSent(fromServiceError(error));
    },
    close: () => {
      stream.close();
      client.close();
    },
  };
}
