import { ffmpeg } from '@longwave/test-kit';

const word = (value: number) => [value >> 8, value & 255];
const segment = (marker: number, body: readonly number[]) => [0xff, marker, ...word(body.length + 2), ...body];

/** DC categories as of ITU-T T.81 Table K.3; the only AC symbol is the end of a block, one bit. */
const dcCodes = [
  '00',
  '010',
  '011',
  '100',
  '101',
  '110',
  '1110',
  '11110',
  '111110',
  '1111110',
  '11111110',
  '111111110',
];
const dcTable = [0x00, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, ...dcCodes.keys()];
const acTable = [0x10, 1, ...new Array<number>(15).fill(0), 0];

/** A JPEG of one colour with as many components as values, as Adobe's programs write CMYK (transform 0) and YCCK (2); inverted. */
export function plainJpeg(side: number, values: readonly number[], transform?: number): Buffer {
  const blocks = Math.ceil(side / 8) ** 2;
  const blockOf = (difference: number) => {
    const category = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
    const bits = difference < 0 ? difference + 2 ** category - 1 : difference;
    return dcCodes[category]! + (category ? bits.toString(2).padStart(category, '0') : '') + '0';
  };
  const first = values.map((value) => blockOf((value - 128) * 8)).join('');
  let bits = first + blockOf(0).repeat(values.length * (blocks - 1));
  bits += '1'.repeat((8 - (bits.length % 8)) % 8);
  const scan: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    const byte = parseInt(bits.slice(at, at + 8), 2);
    scan.push(byte);
    if (byte === 0xff) scan.push(0);
  }
  return Buffer.from([
    ...[0xff, 0xd8],
    ...(transform === undefined ? [] : segment(0xee, [...Buffer.from('Adobe'), 0, 100, 0, 0, 0, 0, transform])),
    ...segment(0xdb, [0, ...new Array<number>(64).fill(1)]),
    ...segment(0xc0, [8, ...word(side), ...word(side), values.length, ...values.flatMap((_, i) => [i + 1, 0x11, 0])]),
    ...segment(0xc4, dcTable),
    ...segment(0xc4, acTable),
    ...segment(0xda, [values.length, ...values.flatMap((_, i) => [i + 1, 0]), 0, 63, 0]),
    ...scan,
    ...[0xff, 0xd9],
  ]);
}

/** Puts an Exif orientation (1 to 8) into a JPEG. */
export function turned(jpeg: Buffer, orientation: number): Buffer {
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
  const tiff = [...Buffer.from('MM'), 0, 42, 0, 0, 0, 8, 0, 1, ...entry, 0, 0, 0, 0];
  const exif = segment(0xe1, [...Buffer.from('Exif\0\0', 'latin1'), ...tiff]);
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from(exif), jpeg.subarray(2)]);
}

/** An image that ffmpeg makes of a lavfi source, by codec. */
export const makeImage = (source: string, codec: string, ...args: string[]): Buffer =>
  ffmpeg('-f', 'lavfi', '-i', source, '-frames:v', '1', '-c:v', codec, ...args, '-f', 'image2pipe', 'pipe:1');

/** Four colours, one in each corner: red, green, blue, white. */
export const corners = (side: number): string => {
  const half = side / 2;
  const box = (colour: string, x: number, y: number) =>
    `drawbox=x=${x}:y=${y}:w=${half}:h=${half}:color=${colour}:t=fill`;
  return `color=white:s=${side}x${side},format=rgb24,${box('red', 0, 0)},${box('0x00FF00', half, 0)},${box('blue', 0, half)}`;
};
