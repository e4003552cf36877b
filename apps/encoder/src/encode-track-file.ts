/**
 * Encodes a track of HLS of one local file as a production would: node apps/encoder/src/encode-track-file.ts INPUT OUTPUT TRACK [INDEX]. A track
 * of pictures has the cells of a sound, whose index lies beside its track (OUTPUT.json). Prints the result as JSON.
 */
import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';

// Modules that are imported from here on are compiled at the first start only.
enableCompileCache();
const { cellIndexSchema } = await import('@longwave/hls-media');
const { encodePictures } = await import('./media/encode-pictures.ts');
const { encodeTrack } = await import('./media/encode-track.ts');
const { inspectPicture } = await import('./media/inspect-source.ts');
const { countSamples } = await import('./media/measure-source.ts');

const pictureTracks = ['v360', 'v480', 'v720', 'v1080', 'iframe'] as const;
const [inputPath, outputPath, track, indexPath] = process.argv.slice(2);
const name = pictureTracks.find((each) => each === track);
if (!inputPath || !outputPath || (name ? !indexPath : track !== 'a192')) {
  console.error('usage: node apps/encoder/src/encode-track-file.ts INPUT OUTPUT a192');
  console.error(
    `       node apps/encoder/src/encode-track-file.ts INPUT OUTPUT ${pictureTracks.join('|')} INDEX_OF_SOUND`,
  );
  process.exit(64);
}
const { signal } = new AbortController();

async function encodeSound(input: string, output: string) {
  const source = await countSamples(input, signal);
  return encodeTrack({ source, plan: { gainDb: 0 }, markersMs: [], silences: [], outputPath: output, signal });
}

async function encodePicture(of: (typeof pictureTracks)[number], input: string, output: string, index: string) {
  const { source } = await inspectPicture(input, signal);
  return encodePictures({
    name: of,
    source,
    sound: cellIndexSchema.parse(JSON.parse(readFileSync(index, 'utf8'))),
    outputPath: output,
    signal,
  });
}

const made = name
  ? await encodePicture(name, inputPath, outputPath, indexPath!)
  : await encodeSound(inputPath, outputPath);
console.log(JSON.stringify(made));
