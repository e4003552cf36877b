import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseProxyHeader } from './proxy-header.ts';

const signature = '0d0a0d0a000d0a515549540a';
const binary = (hex: string) => Buffer.from(signature + hex.replaceAll(' ', ''), 'hex');
const line = (text: string) => Buffer.from(`${text}\r\n`, 'latin1');
const nobody = undefined;
const ones = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';

/** The examples of the specification (§2.1), a header of a network load balancer, and each form of §2.2. */
const valid: readonly (readonly [name: string, header: Buffer, client: object | undefined])[] = [
  ['the example', line('PROXY TCP4 192.168.0.1 192.168.0.11 56324 443'), { address: '192.168.0.1', port: 56_324 }],
  [
    'the longest TCP4',
    line('PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535'),
    { address: '255.255.255.255', port: 65_535 },
  ],
  ['the longest TCP6', line(`PROXY TCP6 ${ones} ${ones} 65535 65535`), { address: ones, port: 65_535 }],
  ['a short TCP6', line('PROXY TCP6 2001:db8::1 ::1 0 443'), { address: '2001:db8::1', port: 0 }],
  ['the short UNKNOWN', line('PROXY UNKNOWN'), nobody],
  ['the longest line, UNKNOWN', line(`PROXY UNKNOWN ${ones} ${ones} 65535 65535`), nobody],
  [
    'a balancer with a checksum and padding',
    binary(`2111 0054 2399e1ca 0a002485 cb32 01bb 030004 c4fb1a1b 04003e ${'00'.repeat(62)}`),
    { address: '35.153.225.202', port: 52_018 },
  ],
  [
    'TCP6',
    binary(`2121 0024 20010db8000000000000000000000001 ${'00'.repeat(15)}01 dac4 01bb`),
    { address: '2001:db8:0:0:0:0:0:1', port: 56_004 },
  ],
  ['LOCAL', binary('2000 0000'), nobody],
  ['LOCAL with addresses, which are ignored', binary('2011 000c 01020304 05060708 0001 0002'), nobody],
  ['LOCAL of an unknown family', binary('20ff 0000'), nobody],
  ['unspecified', binary('2100 0000'), nobody],
  ['UDP', binary('2112 000c 01020304 05060708 0001 0002'), nobody],
  ['a UNIX socket', binary(`2131 00d8 ${'00'.repeat(216)}`), nobody],
];

test.each(valid)('%s names its client, wherever the bytes are split and whatever follows', (_, header, client) => {
  const expected = { lengthBytes: header.length, client };
  for (let arrived = 0; arrived < header.length; arrived++)
    expect(parseProxyHeader(header.subarray(0, arrived))).toBe('incomplete');
  expect(parseProxyHeader(header)).toEqual(expected);
  expect(parseProxyHeader(Buffer.concat([header, Buffer.from('GET / HTTP/1.1\r\n\r\n')]))).toEqual(expected);
});

test.each([
  ['HTTP', line('GET / HTTP/1.1')],
  ['another case', line('proxy TCP4 1.2.3.4 5.6.7.8 1 2')],
  ['an unknown family', line('PROXY UDP4 1.2.3.4 5.6.7.8 1 2')],
  ['a member of every object', line('PROXY constructor 1.2.3.4 5.6.7.8 1 2')],
  ['no family', line('PROXY ')],
  ['an address of the other family', line('PROXY TCP4 2001:db8::1 ::1 1 2')],
  ['a destination of the other family', line('PROXY TCP6 2001:db8::1 5.6.7.8 1 2')],
  ['a leading zero in an address', line('PROXY TCP4 01.2.3.4 5.6.7.8 1 2')],
  ['a zone', line('PROXY TCP6 fe80::1%eth0 ::1 1 2')],
  ['a leading zero in a port', line('PROXY TCP4 1.2.3.4 5.6.7.8 01 2')],
  ['a port too large', line('PROXY TCP4 1.2.3.4 5.6.7.8 65536 2')],
  ['two spaces', line('PROXY TCP4  1.2.3.4 5.6.7.8 1 2')],
  ['a missing port', line('PROXY TCP4 1.2.3.4 5.6.7.8 1')],
  ['more than ports', line('PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3')],
  ['a bare line feed', line('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n')],
  ['a line that is one byte too long', line(`PROXY UNKNOWN ${'x'.repeat(92)}`)],
  ['version 1 in the binary form', binary('1111 000c 01020304 05060708 0001 0002')],
  ['an unknown command', binary('2211 000c 01020304 05060708 0001 0002')],
  ['an unknown family, binary', binary('2141 000c 01020304 05060708 0001 0002')],
  ['addresses that do not fit', binary('2111 000b 01020304 05060708 0001 00')],
  ['more than the bound', binary(`2111 0ff1 ${'00'.repeat(0x0f_f1)}`)],
])('%s is no header', (_, bytes) => expect(parseProxyHeader(bytes)).toBe('invalid'));

test('no bytes make it throw, and once it has answered, more bytes change nothing', () => {
  const beginning = fc.constantFrom(...valid.map(([, header]) => header), Buffer.alloc(0), binary(''), line('PROXY '));
  const bytes = fc
    .tuple(beginning, fc.nat({ max: 300 }), fc.uint8Array({ maxLength: 200 }))
    .map(([head, cut, tail]) => Buffer.concat([head.subarray(0, cut), tail]));
  fc.assert(
    fc.property(bytes, fc.nat({ max: 500 }), (whole, cut) => {
      const part = parseProxyHeader(whole.subarray(0, cut));
      const answer = parseProxyHeader(whole);
      if (part !== 'incomplete') expect(answer).toEqual(part);
      if (typeof answer === 'object') expect(answer.lengthBytes).toBeLessThanOrEqual(whole.length);
    }),
    { numRuns: 2_000 },
  );
});

test('never asks for more than 4,096 bytes', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(binary(''), line('PROXY UNKNOWN ').subarray(0, -2), Buffer.alloc(0)),
      fc.uint8Array({ minLength: 4_096, maxLength: 4_200 }),
      (head, tail) => {
        expect(parseProxyHeader(Buffer.concat([head, tail]))).not.toBe('incomplete');
      },
    ),
  );
});
