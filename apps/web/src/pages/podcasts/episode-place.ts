/** Where an episode stands in its podcast, as apps write it: `S2 E14`, `E14`; empty without a number. */
export const episodePlace = (season: number | undefined, number: number | undefined): string =>
  [season !== undefined && `S${season}`, number !== undefined && `E${number}`].filter(Boolean).join(' ');
