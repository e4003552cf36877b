import { id3v2TagBytes, tryParseFrameHeader, tryParseVbrHeader } from '@longwave/audio';

/** Random access to the bytes of a source. `to` may pass the end. */
export interface ByteReader {
  readonly sizeBytes: number;
  read(from: number, to: number): Promise<Buffer>;
}

/** The length that a container states for itself, read without decoding. */
export interface SourceStructure {
  /** Bytes the container promises are not there. */
  readonly cut: boolean;
  /** Sound the container promises. */
  readonly declaredMs?: number;
  /** All bytes the container promises are there: sound that is missing was damaged, not cut off. */
  readonly whole?: boolean;
}

const unknown: SourceStructure = { cut: false };
/** Placeholders of writers that could not seek back (ffmpeg all ones, sox nearly 2^31). */
const isPlaceholder = (dataBytes: number) => dataBytes === 0 || dataBytes >= 0x7fff_0000;

/** RIFF/WAVE and RF64 (EBU Tech 3306): the data chunk against the file. */
async function inspectWave(reader: ByteReader): Promise<SourceStructure> {
  let longDataBytes: number | undefined;
  for (let at = 12, chunks = 0; at + 8 <= reader.sizeBytes && chunks < 1000; chunks++) {
    const head = await reader.read(at, at + 24);
    const id = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    if (id === 'ds64' && head.length === 24) longDataBytes = Number(head.readBigUInt64LE(16));
    if (id === 'data') {
      const availableBytes = reader.sizeBytes - at - 8;
      if (availableBytes === 0 && size === 0) return { cut: false, declaredMs: 0 };
      const dataBytes = size === 0xffff_ffff && longDataBytes ? longDataBytes : size;
      return { cut: !(dataBytes === size && isPlaceholder(size)) && dataBytes > availableBytes };
    }
    at += 8 + size + (size & 1);
  }
  return { cut: true };
}

/** ISO base media (14496-12 §4.2): every top-level box ends inside the file, and there is a `moov`. */
async function inspectMp4(reader: ByteReader): Promise<SourceStructure> {
  let hasMovie = false;
  for (let at = 0; at + 8 <= reader.sizeBytes;) {
    const head = await reader.read(at, at + 16);
    const type = head.toString('latin1', 4, 8);
    let size = head.readUInt32BE(0);
    if (size === 1) size = head.length < 16 ? Infinity : Number(head.readBigUInt64BE(8));
    if (size === 0) size = reader.sizeBytes - at;
    if (size < 8 || !/^[\x20-\x7e\xa9]{4}$/.test(type)) break;
    if (at + size > reader.sizeBytes) return { cut: true };
    hasMovie ||= type === 'moov';
    at += size;
  }
  return { cut: !hasMovie };
}

/** Ogg (RFC 3533 §6): the last page is whole. A stream without an end-of-stream page is a recording, not an error. */
async function inspectOgg(reader: ByteReader): Promise<SourceStructure> {
  const maxPageBytes = 27 + 255 + 255 * 255;
  const tail = await reader.read(Math.max(0, reader.sizeBytes - maxPageBytes), reader.sizeBytes);
  const at = tail.lastIndexOf('OggS');
  if (at < 0) return unknown;
  const segments = tail[at + 26];
  if (segments === undefined || at + 27 + segments > tail.length) return { cut: true };
  const body = tail.subarray(at + 27, at + 27 + segments).reduce((sum, lacing) => sum + lacing, 0);
  return { cut: at + 27 + segments + body > tail.length };
}

/** FLAC (RFC 9639 §8.2): sample count of the stream information; 0 means unknown. */
async function inspectFlac(reader: ByteReader, from: number): Promise<SourceStructure> {
  const head = await reader.read(from, from + 26);
  if (head.length < 26) return { cut: true };
  const sampleRate = head.readUIntBE(18, 3) >> 4;
  const samples = (head[21]! & 15) * 2 ** 32 + head.readUInt32BE(22);
  return samples && sampleRate ? { cut: false, declaredMs: (samples / sampleRate) * 1000 } : unknown;
}

/** MP3: only a Xing, Info or VBRI frame states the length; without one a cut file looks like a shorter file. */
async function inspectMp3(reader: ByteReader, from: number): Promise<SourceStructure> {
  if (from >= reader.sizeBytes) return { cut: true };
  const bytes = await reader.read(from, from + 4096);
  const header = tryParseFrameHeader(bytes);
  const vbr = header && tryParseVbrHeader(bytes, 0, header);
  if (!vbr) return unknown;
  // Against the whole file and with a frame to spare: writers disagree about counting tags and the header frame.
  const cut = vbr.sizeBytes !== undefined && reader.sizeBytes + header.sizeBytes < vbr.sizeBytes;
  const whole = vbr.sizeBytes !== undefined && reader.sizeBytes - from + header.sizeBytes >= vbr.sizeBytes;
  return { cut, whole, ...(vbr.frames && { declaredMs: (vbr.frames * header.samples * 1000) / header.sampleRate }) };
}

/** Reads the container's own statement of length. Other containers make no statement that can be checked. */
export async function inspectStructure(reader: ByteReader): Promise<SourceStructure> {
  const head = await reader.read(0, 16);
  const from = id3v2TagBytes(head);
  const magic = from ? await reader.read(from, from + 16) : head;
  const at = (offset: number, length = 4) => magic.toString('latin1', offset, offset + length);
  if (/^(RIFF|RF64)$/.test(at(0)) && at(8) === 'WAVE') return inspectWave(reader);
  if (at(4) === 'ftyp') return inspectMp4(reader);
  if (at(0) === 'OggS') return inspectOgg(reader);
  if (at(0) === 'fLaC') return inspectFlac(reader, from);
  if (from || tryParseFrameHeader(magic)) return inspectMp3(reader, from);
  return unknown;
}
