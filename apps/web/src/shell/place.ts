import { useMemo } from 'react';
import { useMe } from '../api/me.ts';
import { currentLanguage } from '../messages/messages.ts';
import type { TimePlace } from '../parts/format.ts';

const deviceZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Whether this browser knows a zone: one that it does not would stop every page. */
const isKnown = (zone: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** In which zone and language a page shows times and numbers: those that the person chose, else those of the device. */
export function usePlace(): TimePlace {
  const chosen = useMe()?.timeZone;
  return useMemo(() => {
    const zone = chosen !== undefined && isKnown(chosen) ? chosen : deviceZone;
    return { zone, language: currentLanguage() };
  }, [chosen]);
}
