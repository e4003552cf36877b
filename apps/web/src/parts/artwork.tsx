import { useState } from 'react';
import { classes } from '../look/classes.ts';
import { artworkAddress, type ArtworkSize } from './artwork-address.ts';
import styles from './artwork.module.css';

const pixels = { small: 40, large: 76 } as const;

/**
 * The picture of a podcast or an episode beside its title, so it has no words of its own. Only sizes that we have made are loaded, never a
 * foreign address; without one, or when it does not load, the first letter of the title stands there.
 */
export function Artwork({
  of: sizes,
  title,
  size,
}: {
  readonly of: readonly ArtworkSize[] | undefined;
  readonly title: string;
  readonly size: keyof typeof pixels;
}) {
  const [failed, setFailed] = useState(false);
  const address = failed ? undefined : artworkAddress(sizes, pixels[size] * Math.min(window.devicePixelRatio, 2));
  const look = classes(styles.artwork, styles[size]);
  if (address === undefined)
    return (
      <span className={look} aria-hidden>
        {[...title.trim()][0]?.toUpperCase() ?? '·'}
      </span>
    );
  const side = pixels[size];
  return (
    <img
      className={look}
      src={address}
      alt=""
      width={side}
      height={side}
      loading="lazy"
      onError={() => setFailed(true)}
    />
  );
}
