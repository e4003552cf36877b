/** One MPEG audio Layer III frame header (ISO/IEC 11172-3 §2.4.1.3, 13818-3 §2.4.1.3). */
export interface FrameHeader {
  /** The 32 header bits as an unsigned number. */
  readonly word: number;
  readonly version: '1' | '2' | '2.5';
  /** Bits per second. */
  readonly bitrate: number;
  /** Hz. */
  readonly sampleRate: number;
  readonly channelMode: 'stereo' | 'joint_stereo' | 'dual_channel' | 'mono';
  readonly channels: 1 | 2;
  readonly hasCrc: boolean;
  /** Whole frame, header included. */
  readonly sizeBytes: number;
  /** Samples per channel that the frame decodes to: 1152 (version 1) or 576. */
  readonly samples: 1152 | 576;
}

const versions = ['2.5', undefined, '2', '1'] as const;
const bitratesVersion1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] as const;
const bitratesVersion2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160] as const;
const sampleRates = { '1': [44100, 48000, 32000], '2': [22050, 24000, 16000], '2.5': [11025, 12000, 8000] } as const;
const channelModes = ['stereo', 'joint_stereo', 'dual_channel', 'mono'] as const;

/** The Layer III header at `offset`; undefined for anything else (other layers, free format, reserved values, too few bytes). */
export function tryParseFrameHeader(bytes: Uint8Array, offset = 0): FrameHeader | undefined {
  if (offset + 4 > bytes.length) return undefined;
  const [a, b, c, d] = [bytes[offset]!, bytes[offset + 1]!, bytes[offset + 2]!, bytes[offset + 3]!];
  if (a !== 0xff || (b & 0xe0) !== 0xe0 || ((b >> 1) & 3) !== 1) return undefined;
  const version = versions[(b >> 3) & 3];
  if (version === undefined) return undefined;
  const bitrate = (version === '1' ? bitratesVersion1 : bitratesVersion2)[c >> 4];
  const sampleRate = sampleRates[version][(c >> 2) & 3];
  if (!bitrate || sampleRate === undefined || (d & 3) === 2) return undefined;
  const channelMode = channelModes[d >> 6]!;
  const samples = version === '1' ? 1152 : 576;
  return {
    word: ((a << 24) | (b << 16) | (c << 8) | d) >>> 0,
    version,
    bitrate: bitrate * 1000,
    sampleRate,
    channelMode,
    channels: channelMode === 'mono' ? 1 : 2,
    hasCrc: (b & 1) === 0,
    sizeBytes: Math.floor((samples * bitrate * 125) / sampleRate) + ((c >> 1) & 1),
    samples,
  };
}
