import type { clipFormats } from '@longwave/command-catalog';

export type ClipFormat = (typeof clipFormats)[number];

/** Bytes of a file's start that tell its format. */
export const startBytes = 4096;

const text = (start: Buffer, from: number, to: number) => start.toString('latin1', from, to);

/** MPEG audio (ISO/IEC 11172-3, 2.4.1.3): sync word, version, layer III. */
const isMp3Frame = (start: Buffer) =>
  start.length > 2 &&
  start[0] === 0xff &&
  (start[1]! & 0xe0) === 0xe0 &&
  (start[1]! & 0x18) !== 0x08 &&
  (start[1]! & 0x06) === 0x02 &&
  (start[2]! & 0xf0) !== 0xf0;

/** ADTS (ISO/IEC 13818-7, 6.2): sync word of 12 bits and layer 0. */
const isAdtsFrame = (start: Buffer) => start.length > 1 && start[0] === 0xff && (start[1]! & 0xf6) === 0xf0;

/** Atoms that a QuickTime file may begin with, where no brand is named. */
const isQuickTime = (start: Buffer) => ['moov', 'mdat', 'wide', 'free', 'skip'].includes(text(start, 4, 8));

/** Formats that a file with this start may have; none for an unknown start. An ID3v2 tag may precede several formats. */
export function formatsOf(start: Buffer): readonly ClipFormat[] {
  if (text(start, 0, 3) === 'ID3') return ['mp3', 'aac', 'flac'];
  if (text(start, 0, 4) === 'fLaC') return ['flac'];
  if (text(start, 0, 4) === 'OggS') return text(start, 28, 36) === 'OpusHead' ? ['ogg', 'opus'] : ['ogg'];
  if (['RIFF', 'RF64'].includes(text(start, 0, 4)) && text(start, 8, 12) === 'WAVE') return ['wav'];
  if (text(start, 4, 8) === 'ftyp' || isQuickTime(start)) return ['m4a'];
  if (isMp3Frame(start)) return ['mp3'];
  return isAdtsFrame(start) ? ['aac'] : [];
}

/** The type without parameters, in lower case. */
const essence = (contentType: string | undefined) => contentType?.split(';')[0]!.trim().toLowerCase() ?? '';

/** Types that say nothing about the format. */
const silentTypes: readonly string[] = ['', 'application/octet-stream', 'binary/octet-stream', 'application/download'];

const formatsOfType: Readonly<Record<string, readonly ClipFormat[]>> = {
  'audio/mpeg': ['mp3'],
  'audio/mp3': ['mp3'],
  'audio/x-mp3': ['mp3'],
  'audio/mpeg3': ['mp3'],
  'audio/mp4': ['m4a'],
  'video/mp4': ['m4a'],
  'audio/m4a': ['m4a'],
  'audio/x-m4a': ['m4a'],
  'audio/aac': ['aac', 'm4a'],
  'audio/aacp': ['aac', 'm4a'],
  'audio/x-aac': ['aac', 'm4a'],
  'audio/ogg': ['ogg', 'opus'],
  'application/ogg': ['ogg', 'opus'],
  'audio/opus': ['opus'],
  'audio/flac': ['flac'],
  'audio/x-flac': ['flac'],
  'audio/wav': ['wav'],
  'audio/wave': ['wav'],
  'audio/x-wav': ['wav'],
  'audio/vnd.wave': ['wav'],
};

/** Whether a file of this format may have this content type; a type that says nothing fits every format. */
export function typeFits(contentType: string | undefined, format: ClipFormat): boolean {
  const type = essence(contentType);
  if (silentTypes.includes(type)) return true;
  if (Object.hasOwn(formatsOfType, type)) return formatsOfType[type]!.includes(format);
  return type.startsWith('audio/');
}

/** Whether a file may hold sound: by its first bytes, or by its type unless the bytes are markup. */
export function looksLikeMedia(start: Buffer, contentType: string | undefined): boolean {
  if (formatsOf(start).length > 0) return true;
  const isMarkup = /^\ufeff?\s*[<{]/.test(start.toString('utf8', 0, 64));
  return !isMarkup && /^(audio\/|video\/|application\/ogg$)/.test(essence(contentType));
}
