import { bytesOfFrames, canonicalFormat, canonicalWord } from './canonical.ts';

/** Header and side information of a frame of two channels without CRC (ISO/IEC 11172-3 §2.4.1.7). */
const tagOffset = 4 + 32;
const hasFrames = 1;
const hasBytes = 2;
const hasContents = 4;
const contentsSize = 100;

/**
 * The silent first frame that tells players how long a stream of canonical frames is and where its hundredths begin, so that no
 * player has to estimate: a Xing header under its name for constant bit rates, "Info". It names no encoder and no delay, because players cut
 * nothing off the ends of canonical segments. Decoders that know the header skip the frame.
 * @param frames that follow; the frame itself is not counted, but its bytes are
 */
export function renderInfoFrame(frames: number): Buffer {
  const sizeBytes = bytesOfFrames(frames + 1);
  const frame = Buffer.alloc(canonicalFormat.frameSizeBytes);
  frame.writeUInt32BE(canonicalWord, 0);
  frame.write('Info', tagOffset, 'latin1');
  frame.writeUInt32BE(hasFrames | hasBytes | hasContents, tagOffset + 4);
  frame.writeUInt32BE(frames, tagOffset + 8);
  frame.writeUInt32BE(sizeBytes, tagOffset + 12);
  for (let hundredth = 0; hundredth < contentsSize; hundredth++) {
    const atBytes = bytesOfFrames(1 + Math.floor((frames * hundredth) / contentsSize));
    frame[tagOffset + 16 + hundredth] = Math.min(255, Math.floor((atBytes * 256) / sizeBytes));
  }
  return frame;
}
