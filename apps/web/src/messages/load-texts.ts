import type { Messages } from '@lingui/core';
import { addTexts, currentLanguage, type Area, type Language } from './messages.ts';

/** The compiled texts of a language. */
export interface Texts {
  readonly language: Language;
  readonly texts: Messages;
}

type Load = () => Promise<{ readonly default: unknown }>;

/** Each language is a file of its own: a browser loads one. `vite/compile-messages.ts` compiles what is imported. */
const files: Readonly<Record<Language, Load>> = {
  en: () => import('./en.json'),
  de: () => import('./de.json'),
};

/** Texts of pages that the first page does not need. */
const areas: Readonly<Record<Area, Readonly<Record<Language, Load>>>> = {
  ads: { en: () => import('./ads/en.json'), de: () => import('./ads/de.json') },
  audio: { en: () => import('./audio/en.json'), de: () => import('./audio/de.json') },
  analytics: { en: () => import('./analytics/en.json'), de: () => import('./analytics/de.json') },
  decisions: { en: () => import('./decisions/en.json'), de: () => import('./decisions/de.json') },
  feed: { en: () => import('./feed/en.json'), de: () => import('./feed/de.json') },
  people: { en: () => import('./people/en.json'), de: () => import('./people/de.json') },
  preview: { en: () => import('./preview/en.json'), de: () => import('./preview/de.json') },
  finance: { en: () => import('./finance/en.json'), de: () => import('./finance/de.json') },
  site: { en: () => import('./site/en.json'), de: () => import('./site/de.json') },
  sound: { en: () => import('./sound/en.json'), de: () => import('./sound/de.json') },
};

/** Loads the texts of a language that every page needs. */
export async function fetchTexts(language: Language): Promise<Texts> {
  const { default: texts } = await files[language]();
  return { language, texts: texts as Messages };
}

/** A page of an area, for `lazyRouteComponent`: it is there once its texts are, which are loaded beside it. */
export const withTexts =
  <T>(area: Area, page: () => Promise<T>) =>
  async (): Promise<T> => {
    const [loaded, { default: texts }] = await Promise.all([page(), areas[area][currentLanguage()]()]);
    addTexts(texts as Messages);
    return loaded;
  };
