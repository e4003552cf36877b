import { numberOf } from '../attributes.ts';
import { failure } from '../finding.ts';
import { isVideo, referenceMedia, seconds } from '../tracks.ts';
import { sources, type Rule } from './rule.ts';

const durations: Rule = {
  id: 'A8',
  demands: 'Every ad says how long it is, as a number that is right within 10 %.',
  source: `${sources.podcasts}; ${sources.interstitials}`,
  general: 'same',
  inAds: false,
  *check({ breaks }) {
    for (const { where: at, tag, list, assets } of breaks)
      for (const { where, duration, presentation } of assets) {
        const { attributes } = tag;
        const declared = list
          ? duration
          : (numberOf(attributes, 'DURATION') ?? numberOf(attributes, 'PLANNED-DURATION'));
        const place = list ? where : at;
        if (typeof declared !== 'number') {
          yield failure(
            place,
            list
              ? `DURATION is ${declared === undefined ? 'absent' : 'no number'}. Write the seconds as a JSON number.`
              : 'The break names one ad and not how long it is. Write DURATION or PLANNED-DURATION.',
          );
          continue;
        }
        const real = presentation && referenceMedia(presentation)?.playlist.lengthSeconds;
        if (real !== undefined && Math.abs(declared - real) > real * 0.1)
          yield failure(
            place,
            `DURATION is ${seconds(declared)}, and the ad is ${seconds(real)} long. Write its length.`,
          );
      }
  },
};

const kinds: Rule = {
  id: 'A10',
  demands: 'Every ad has at least what the content has: a variant of audio only, and video where the content has some.',
  source: sources.podcasts,
  general: 'warning',
  inAds: false,
  *check({ main, breaks }) {
    const needsVideo = main.variants.some(isVideo);
    for (const { assets } of breaks)
      for (const { where, presentation } of assets) {
        const variants = presentation?.main.variants;
        if (!variants) continue;
        if (variants.every(isVideo)) yield failure(where, 'The ad has no variant of audio only. Add one.');
        if (needsVideo && !variants.some(isVideo))
          yield failure(where, 'The content has video and the ad has none. Add a variant with video.');
      }
  },
};

const lists: Rule = {
  id: 'asset-list',
  demands: 'An asset list is JSON with ASSETS, each with an absolute URI; asked twice it answers the same bytes.',
  source: `${sources.interstitials}; ${sources.longwave}`,
  general: 'same',
  inAds: false,
  *check({ breaks }) {
    for (const { where, list } of breaks) {
      for (const problem of list?.problems ?? []) yield failure(where, problem);
      if (list?.isSame === false)
        yield failure(
          where,
          'The asset list has other bytes when it is asked for again, so a listener who seeks gets other ads. Decide once for each play.',
        );
    }
  },
};

export const assetRules: readonly Rule[] = [durations, kinds, lists];
