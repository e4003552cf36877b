import { t } from '../../../messages/messages.ts';
import type { Preview } from './preview-query.ts';

/** What an ad is called: by its advertiser, else by its creative; whoever does not see campaigns hears an ad. */
export const adName = ({ advertiser, creative }: Pick<Preview['ads'][number], 'advertiser' | 'creative'>): string =>
  advertiser?.name ?? creative?.name ?? t('preview.an_ad');
