import { expect, test } from '@jest/globals';
import { freePorts } from './free-ports.ts';

test('no port is handed out twice, even before anything listens on it', async () => {
  const asked = await Promise.all(Array.from({ length: 60 }, () => freePorts(20)));
  const ports = asked.flat();
  expect(new Set(ports).size).toBe(ports.length);
});
