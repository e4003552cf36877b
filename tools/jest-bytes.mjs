/** Loaded before each test file: bytes are compared as bytes. Jest itself looks up every one of them as a property of two objects. */
import { expect } from '@jest/globals';

function equalBytes(a, b) {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return undefined;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
  return Buffer.compare(a, b) === 0;
}

expect.addEqualityTesters([equalBytes]);
