import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { idBytes, idFromBytes, idFromUuid, idToUuid, isId, newId } from './index.ts';

test('any 16 bytes survive the way to an id and back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const id = idFromBytes('ep', bytes);
      expect(isId(id, 'ep')).toBe(true);
      expect(idBytes(id)).toEqual(Buffer.from(bytes));
      expect(idFromUuid('ep', idToUuid(id))).toBe(id);
    }),
  );
});

test('ids made one after another sort in that order and are version 7 UUIDs', () => {
  const ids = Array.from({ length: 1000 }, () => newId('pod'));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(1000);
  expect(idToUuid(ids[0]!)[14]).toBe('7');
});

test('a foreign prefix, another alphabet or a wrong length is no id', () => {
  expect(isId(newId('pod'), 'ep')).toBe(false);
  expect(isId('pod_0000000000000000000000000u')).toBe(false);
  expect(isId('pod_123')).toBe(false);
  expect(() => idBytes('pod_123')).toThrow(RangeError);
});
