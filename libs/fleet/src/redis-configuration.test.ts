import { expect, test } from '@jest/globals';
import { renderRedisConfiguration, type RedisConfiguration } from './redis-configuration.ts';

const wanted: RedisConfiguration = {
  ...{ folder: '/data', port: 6379, bind: '127.0.0.1', password: 'a1', users: [], databases: 1, mode: 'fast' },
  maxMemoryBytes: undefined,
};

test('a password that would add a line to redis.conf is refused, as that of a backup that was altered', () => {
  expect(renderRedisConfiguration(wanted).split('\n')).toContain('requirepass a1');
  for (const password of ['a\nloadmodule /tmp/module.so', 'a b', '"a"', ''])
    expect(() => renderRedisConfiguration({ ...wanted, password })).toThrow('must be one word');
});
