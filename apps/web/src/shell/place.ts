import { useMemo } from 'react';
import { currentLanguage } from '../messages/messages.ts';
import type { TimePlace } from '../parts/format.ts';

/** The zone of the device: podcasts and accounts have none of their own yet. */
const deviceZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** In which zone and language a page shows times and numbers. */
export const usePlace = (): TimePlace => useMemo(() => ({ zone: deviceZone(), language: currentLanguage() }), []);
