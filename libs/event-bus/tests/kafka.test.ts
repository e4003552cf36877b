import { test } from '@jest/globals';
import net from 'node:net';
import { createKafkaBus } from '../src/kafka/kafka-bus.ts';
import { describeEventBus } from './event-bus.contract.ts';

const brokers = process.env['TEST_KAFKA_BROKERS']?.split(',');
const sockets = new Set<net.Socket>();
let away = false;

if (brokers !== undefined) {
  // The shortest session that a broker accepts by default.
  const config = { brokers, clientId: 'contract-test', sessionTimeoutMs: 6_000 };
  describeEventBus({
    name: 'Apache Kafka',
    takeoverMs: config.sessionTimeoutMs,
    config: () => ({ kind: 'kafka', ...config }),
    createBus: () => createKafkaBus({ ...config, socketFactory: connect }),
    // The test does not own the broker, so it takes the network away.
    async interrupt() {
      away = true;
      for (const socket of sockets) socket.destroy(new Error('the network is away'));
      return async () => void (away = false);
    },
    start: async () => {},
    stop: async () => {},
  });
} else if (process.env['REQUIRE_FOREIGN_ENGINES'] === '1') {
  test('a Kafka broker is required: set TEST_KAFKA_BROKERS', () => {
    throw new Error('REQUIRE_FOREIGN_ENGINES=1, but TEST_KAFKA_BROKERS is not set.');
  });
} else {
  test.skip('the event bus on Apache Kafka: not run, because TEST_KAFKA_BROKERS names no broker', () => {});
}

function connect({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): net.Socket {
  // Port 1 refuses connections.
  const socket = net.connect(away ? 1 : port, host, onConnect);
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  return socket;
}
