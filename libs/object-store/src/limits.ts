/** S3's limit of one PUT and of one copy: 5 GiB. */
export const maxSinglePutBytes = 5 * 1024 ** 3;
