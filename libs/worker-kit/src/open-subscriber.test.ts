import { expect, test } from '@jest/globals';
import { startTestRedis } from '@longwave/fleet';
import { startFaultProxy, until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { openSubscriber } from './open-subscriber.ts';

test('a subscriber whose network went silent without a word hears messages again soon after it is back', async () => {
  await using server = await startTestRedis();
  await using proxy = await startFaultProxy();
  const url = new URL(server.url);
  proxy.aimAt({ host: url.hostname, port: Number(url.port) });
  const { href } = Object.assign(url, { hostname: '127.0.0.1', port: String(proxy.port) });
  const heard: string[] = [];
  const subscriber = openSubscriber(href, { connectionName: 'test', onError: () => undefined });
  const publisher = new Redis(server.url);
  const channel = `signals:${process.pid}`;
  subscriber.on('message', (_channel, text) => heard.push(text));
  await subscriber.subscribe(channel);
  await publisher.publish(channel, 'before');
  await until(() => heard.includes('before'));
  await proxy.cut('black-hole');
  await publisher.publish(channel, 'meanwhile');
  await proxy.heal();
  await until('a message after it', async () => {
    await publisher.publish(channel, 'after');
    return heard.includes('after');
  });
  expect(heard).not.toContain('meanwhile');
  subscriber.disconnect();
  await publisher.quit();
});
