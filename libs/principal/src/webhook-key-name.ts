import { createHmac } from 'node:crypto';

/** The name of a key that secrets of webhook endpoints are made of: eight hexadecimal digits that say nothing of it. */
export const webhookKeyName = (key: Buffer): string =>
  createHmac('sha256', key).update('longwave webhook key name').digest('hex').slice(0, 8);
