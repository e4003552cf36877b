/** A size of an artwork that we have made, in pixels of one side. */
export interface ArtworkSize {
  readonly size: number;
  readonly url: string;
}

/** The address of the smallest size that is sharp at so many pixels, or of the largest; undefined without any. */
export function artworkAddress(sizes: readonly ArtworkSize[] | undefined, pixels: number): string | undefined {
  const bySize = (sizes ?? []).toSorted((a, b) => a.size - b.size);
  return (bySize.find(({ size }) => size >= pixels) ?? bySize.at(-1))?.url;
}
