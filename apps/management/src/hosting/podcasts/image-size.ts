export interface ImageSize {
  readonly format: 'jpeg' | 'png';
  readonly width: number;
  readonly height: number;
}

/** JPEG markers that begin a frame and state its size (ITU-T T.81, table B.1): SOF0…SOF15 without DHT, JPG and DAC. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function jpegSize(bytes: Buffer): ImageSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (isFrame(marker))
      return { format: 'jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The size of a JPEG or PNG image by the first bytes of its file; undefined for other files, and when the bytes end before the size. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length >= 24 && bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')))
    return { format: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(bytes) : undefined;
}
