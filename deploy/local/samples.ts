import path from 'node:path';

const folder = path.join(import.meta.dirname, 'samples');

/** The bundled media (samples/README.md). */
export const samples = {
  audio: path.join(folder, 'episode.mp3'),
  ad: path.join(folder, 'ad.ogg'),
  artwork: path.join(folder, 'cover.jpg'),
};
