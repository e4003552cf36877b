import { isIPv4, isIPv6 } from 'node:net';

/** A header of the PROXY protocol, version 1 or 2 (https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt). */
export interface ProxyHeader {
  /** The bytes of the connection itself begin after these. */
  readonly lengthBytes: number;
  /** Undefined: the header names nobody, so the address of the connection holds. */
  readonly client: { readonly address: string; readonly port: number } | undefined;
}

/** Enough for every extension (TLV) that balancers send; §2.2 allows 65,551. */
const maxBinaryBytes = 4096;
/** With CR LF (§2.1). */
const maxTextBytes = 107;

const textSignature = Buffer.from('PROXY ');
const binarySignature = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
/** Signature, version and command, family and protocol, length of the rest. */
const binaryHeadBytes = 16;

const mayBegin = (bytes: Buffer, signature: Buffer) =>
  bytes.subarray(0, signature.length).equals(signature.subarray(0, bytes.length));

/**
 * Reads the header at the beginning of a connection. More bytes behind an answer other than `incomplete` never change it.
 * @param bytes what has arrived so far
 */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  if (mayBegin(bytes, binarySignature)) return parseBinary(bytes);
  return mayBegin(bytes, textSignature) ? parseText(bytes) : 'invalid';
}

const isPort = (text: string) => /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;

const families: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['TCP4', isIPv4],
  // Node accepts a zone, which no other machine understands.
  ['TCP6', (text) => isIPv6(text) && !text.includes('%')],
]);

/** Version 1 (§2.1): one line. */
function parseText(bytes: Buffer): ReturnType<typeof parseProxyHeader> {
  const end = bytes.subarray(0, maxTextBytes).indexOf('\r\n');
  if (end === -1) return bytes.length < maxTextBytes ? 'incomplete' : 'invalid';
  const lengthBytes = end + 2;
  const [, family = '', ...rest] = bytes.toString('latin1', 0, end).split(' ');
  if (family === 'UNKNOWN') return { lengthBytes, client: undefined };
  const isAddress = families.get(family);
  const [address = '', destination = '', port = '', destinationPort = ''] = rest;
  const isValid =
    isAddress !== undefined &&
    rest.length === 4 &&
    [address, destination].every(isAddress) &&
    [port, destinationPort].every(isPort);
  return isValid ? { lengthBytes, client: { address, port: Number(port) } } : 'invalid';
}

const renderIPv4 = (bytes: Buffer) => bytes.join('.');

const renderIPv6 = (bytes: Buffer) =>
  Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(2 * group).toString(16)).join(':');

/** By family and protocol (§2.2): the sizes of addresses that can be the client's of an HTTP connection. */
const addressForms: Readonly<
  Record<number, { readonly sizeBytes: number; readonly render: (bytes: Buffer) => string }>
> = {
  0x11: { sizeBytes: 4, render: renderIPv4 },
  0x21: { sizeBytes: 16, render: renderIPv6 },
};
/** Unspecified, UDP and UNIX sockets. */
const otherForms: readonly number[] = [0x00, 0x12, 0x22, 0x31, 0x32];

/** Version 2 (§2.2). Its extensions are skipped. */
function parseBinary(bytes: Buffer): ReturnType<typeof parseProxyHeader> {
  if (bytes.length < binaryHeadBytes) return 'incomplete';
  const command = bytes[12]!;
  const form = bytes[13]!;
  const lengthBytes = binaryHeadBytes + bytes.readUInt16BE(14);
  const isLocal = command === 0x20;
  if ((!isLocal && command !== 0x21) || lengthBytes > maxBinaryBytes) return 'invalid';
  if (bytes.length < lengthBytes) return 'incomplete';
  // What a header of the proxy's own connection says of addresses is to be ignored.
  if (isLocal || otherForms.includes(form)) return { lengthBytes, client: undefined };
  const addresses = addressForms[form];
  if (!addresses) return 'invalid';
  const { sizeBytes, render } = addresses;
  const portAt = binaryHeadBytes + 2 * sizeBytes;
  if (lengthBytes < portAt + 4) return 'invalid';
  const address = render(bytes.subarray(binaryHeadBytes, binaryHeadBytes + sizeBytes));
  return { lengthBytes, client: { address, port: bytes.readUInt16BE(portAt) } };
}
